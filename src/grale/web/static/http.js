// Requests to this server, and nobody else.

async function answered(response) {
  let body = null;
  try {
    body = await response.json();
  } catch {
    throw new Error(`the server answered ${response.status} without JSON`);
  }
  if (!response.ok) throw new Error(body.error || `the server answered ${response.status}`);
  return body;
}

function unreachable(error) {
  if (error.name === "AbortError") throw error;
  throw new Error("the server does not answer; is grale play still running?");
}

export async function get(path) {
  return answered(await fetch(path).catch(unreachable));
}

export async function post(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  const options = { method: "POST", headers, body: JSON.stringify(body), signal };
  return answered(await fetch(path, options).catch(unreachable));
}

export async function firstRow(path, body, signal) {
  const { rows } = await post(path, body, signal);
  if (rows[0].status === "failed") throw new Error(rows[0].reason);
  return rows[0];
}

export async function pictures(graphs, options, signal) {
  return (await post("/play/pictures", { graphs, ...options }, signal)).rows;
}

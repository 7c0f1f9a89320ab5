"""Models on the Hugging Face hub: which names may be found there, and the download.

Before a download, the hub is asked for one small thing with a short time limit. If it does not
answer, only earlier downloads are used: the hub's own library would keep trying for minutes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HUB_SECONDS = 15.0
"""How long the hub may take to answer."""
_OPTIONS = ("revision", "cache_dir", "force_download", "local_files_only", "token", "endpoint")
_ID = re.compile(r"\w[\w.-]*/[\w.-]+")


def is_hub_id(text: str) -> bool:
    """Whether a text that is not a folder may name a model on the hub, "owner/name".

    If "owner" is a folder on this machine, the text is a mistyped path.
    """
    return _ID.fullmatch(text) is not None and not Path(text.partition("/")[0]).exists()


def not_found(text: str, detail: str = "") -> FileNotFoundError:
    """Return the error for a text that names neither a folder nor a model."""
    return FileNotFoundError(f"{text!r}: no such folder, and no model of that name{detail}")


def check_options(options: Mapping[str, Any]) -> None:
    """Raise for an unknown option, rather than ignore it."""
    for name in options:
        if name not in _OPTIONS:
            raise TypeError(f"unknown option {name!r}; known are {', '.join(_OPTIONS)}")


def download(model_id: str, files: Sequence[str], **options: Any) -> Path:
    """Download the files of a model unless they are here already; return their folder."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.utils import HfHubHTTPError, LocalEntryNotFoundError

    known = {name: value for name, value in options.items() if value is not None}
    problem: str | None = "; the hub was not asked"
    if not known.get("local_files_only"):
        problem = _why_not_reached(model_id, files[0], known)
        known["local_files_only"] = problem is not None
    try:
        for name in files:
            path = Path(hf_hub_download(model_id, name, etag_timeout=HUB_SECONDS, **known))
            known["revision"] = path.parent.name  # all files are of one commit
    except LocalEntryNotFoundError as error:
        raise not_found(model_id, problem or f": {_first_line(error)}") from error
    except HfHubHTTPError as error:
        raise OSError(f"cannot download {model_id!r}: {_first_line(error)}") from error
    return path.parent


def _why_not_reached(model_id: str, file: str, options: dict[str, Any]) -> str | None:
    """Ask the hub for the size of a file; say what is wrong, or None if it answers."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url
    from huggingface_hub.utils import (
        EntryNotFoundError,
        HFValidationError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    places = {name: options.get(name) for name in ("revision", "endpoint")}
    try:
        url = hf_hub_url(model_id, file, **places)
        get_hf_file_metadata(url, token=options.get("token"), timeout=HUB_SECONDS)
    except (RepositoryNotFoundError, HFValidationError):
        return " on the hub, or none that you may read"
    except RevisionNotFoundError:
        return f" with a revision {options.get('revision')!r} on the hub"
    except EntryNotFoundError:
        return f" on the hub with a {file}"
    except Exception as error:  # of httpx or requests, depending on the version of the library
        kind = type(error).__name__
        limit = f"which did not answer as it should within {HUB_SECONDS:g} seconds"
        return f" was downloaded before from the hub, {limit} ({kind}: {_first_line(error)})"
    return None


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "")[:200]

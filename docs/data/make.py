"""Make dipoles.csv, the file of the notebook for chemists: python docs/data/make.py.

Molecules are common drugs and some of the virtual library (`grale.data.molecules.library`). The
"measured" value is a calculation that needs a shape in space: the dipole moment of Gasteiger's
charges on one geometry of MMFF94, in debye. None of RDKit's descriptors of the graph is it. As in
files of users, there are salts, gaps, and rows that are no molecules.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from rdkit import Chem
from rdkit.Chem import AllChem
from rdkit.Chem.rdMolDescriptors import CalcMolFormula

from grale.data.molecules.library import library_graphs

OUT = Path(__file__).with_name("dipoles.csv")
DRUGS = {
    "aspirin": ("CC(=O)Oc1ccccc1C(=O)O", "C9H8O4"),
    "paracetamol": ("CC(=O)Nc1ccc(O)cc1", "C8H9NO2"),
    "ibuprofen": ("CC(C)Cc1ccc(cc1)C(C)C(=O)O", "C13H18O2"),
    "naproxen": ("COc1ccc2cc(ccc2c1)C(C)C(=O)O", "C14H14O3"),
    "ketoprofen": ("CC(C(=O)O)c1cccc(c1)C(=O)c1ccccc1", "C16H14O3"),
    "flurbiprofen": ("CC(C(=O)O)c1ccc(c(F)c1)-c1ccccc1", "C15H13FO2"),
    "diclofenac": ("OC(=O)Cc1ccccc1Nc1c(Cl)cccc1Cl", "C14H11Cl2NO2"),
    "mefenamic acid": ("Cc1cccc(Nc2ccccc2C(=O)O)c1C", "C15H15NO2"),
    "salicylic acid": ("OC(=O)c1ccccc1O", "C7H6O3"),
    "caffeine": ("Cn1cnc2c1c(=O)n(C)c(=O)n2C", "C8H10N4O2"),
    "theophylline": ("Cn1c(=O)c2[nH]cnc2n(C)c1=O", "C7H8N4O2"),
    "theobromine": ("Cn1cnc2c1c(=O)[nH]c(=O)n2C", "C7H8N4O2"),
    "nicotine": ("CN1CCCC1c1cccnc1", "C10H14N2"),
    "isoniazid": ("NNC(=O)c1ccncc1", "C6H7N3O"),
    "lidocaine": ("CCN(CC)CC(=O)Nc1c(C)cccc1C", "C14H22N2O"),
    "procaine": ("CCN(CC)CCOC(=O)c1ccc(N)cc1", "C13H20N2O2"),
    "benzocaine": ("CCOC(=O)c1ccc(N)cc1", "C9H11NO2"),
    "prilocaine": ("CCCNC(C)C(=O)Nc1ccccc1C", "C13H20N2O"),
    "propranolol": ("CC(C)NCC(O)COc1cccc2ccccc12", "C16H21NO2"),
    "atenolol": ("CC(C)NCC(O)COc1ccc(CC(N)=O)cc1", "C14H22N2O3"),
    "metoprolol": ("COCCc1ccc(OCC(O)CNC(C)C)cc1", "C15H25NO3"),
    "salbutamol": ("CC(C)(C)NCC(O)c1ccc(O)c(CO)c1", "C13H21NO3"),
    "ephedrine": ("CNC(C)C(O)c1ccccc1", "C10H15NO"),
    "dopamine": ("NCCc1ccc(O)c(O)c1", "C8H11NO2"),
    "adrenaline": ("CNCC(O)c1ccc(O)c(O)c1", "C9H13NO3"),
    "serotonin": ("NCCc1c[nH]c2ccc(O)cc12", "C10H12N2O"),
    "melatonin": ("COc1ccc2[nH]cc(CCNC(C)=O)c2c1", "C13H16N2O2"),
    "histamine": ("NCCc1c[nH]cn1", "C5H9N3"),
    "diazepam": ("CN1C(=O)CN=C(c2ccccc2)c2cc(Cl)ccc12", "C16H13ClN2O"),
    "phenobarbital": ("CCC1(c2ccccc2)C(=O)NC(=O)NC1=O", "C12H12N2O3"),
    "phenytoin": ("O=C1NC(=O)C(N1)(c1ccccc1)c1ccccc1", "C15H12N2O2"),
    "carbamazepine": ("NC(=O)N1c2ccccc2C=Cc2ccccc12", "C15H12N2O"),
    "fluoxetine": ("CNCCC(Oc1ccc(cc1)C(F)(F)F)c1ccccc1", "C17H18F3NO"),
    "amitriptyline": ("CN(C)CCC=C1c2ccccc2CCc2ccccc12", "C20H23N"),
    "diphenhydramine": ("CN(C)CCOC(c1ccccc1)c1ccccc1", "C17H21NO"),
    "pethidine": ("CCOC(=O)C1(CCN(C)CC1)c1ccccc1", "C15H21NO2"),
    "sulfanilamide": ("Nc1ccc(cc1)S(N)(=O)=O", "C6H8N2O2S"),
    "sulfamethoxazole": ("Cc1cc(NS(=O)(=O)c2ccc(N)cc2)no1", "C10H11N3O3S"),
    "trimethoprim": ("COc1cc(Cc2cnc(N)nc2N)cc(OC)c1OC", "C14H18N4O3"),
    "metronidazole": ("Cc1ncc([N+](=O)[O-])n1CCO", "C6H9N3O3"),
    "metformin": ("CN(C)C(=N)NC(N)=N", "C4H11N5"),
    "captopril": ("CC(CS)C(=O)N1CCCC1C(=O)O", "C9H15NO3S"),
    "hydrochlorothiazide": ("NS(=O)(=O)c1cc2c(cc1Cl)NCNS2(=O)=O", "C7H8ClN3O4S2"),
    "furosemide": ("NS(=O)(=O)c1cc(C(=O)O)c(NCc2ccco2)cc1Cl", "C12H11ClN2O5S"),
    "omeprazole": ("COc1ccc2[nH]c(nc2c1)S(=O)Cc1ncc(C)c(OC)c1C", "C17H19N3O3S"),
    "warfarin": ("CC(=O)CC(c1ccccc1)c1c(O)c2ccccc2oc1=O", "C19H16O4"),
    "levodopa": ("NC(Cc1ccc(O)c(O)c1)C(=O)O", "C9H11NO4"),
    "gabapentin": ("NCC1(CC(=O)O)CCCCC1", "C9H17NO2"),
    "menthol": ("CC(C)C1CCC(C)CC1O", "C10H20O"),
    "camphor": ("CC1(C)C2CCC1(C)C(=O)C2", "C10H16O"),
    "vanillin": ("COc1cc(C=O)ccc1O", "C8H8O3"),
    "atorvastatin": (
        "CC(C)c1c(C(=O)Nc2ccccc2)c(-c2ccccc2)c(-c2ccc(F)cc2)n1CCC(O)CC(O)CC(=O)O",
        "C33H35FN2O5",
    ),
}
NUM_ROWS = 300
NO_MOLECULES = ("see notebook 12", "c1ccccc", "")
SALTS = {"lidocaine": ".Cl", "procaine": ".Cl", "metformin": ".Cl", "naproxen": ".[Na]"}
SEED = 7


def dipole(smiles: str) -> float | None:
    """Dipole moment in debye of one geometry, or None if there is none."""
    molecule = Chem.AddHs(Chem.MolFromSmiles(smiles))
    if AllChem.EmbedMolecule(molecule, randomSeed=SEED) != 0:
        return None
    if AllChem.MMFFOptimizeMolecule(molecule, maxIters=1000) == -1:
        return None
    AllChem.ComputeGasteigerCharges(molecule)
    charges = np.array([atom.GetDoubleProp("_GasteigerCharge") for atom in molecule.GetAtoms()])
    moment = (charges[:, None] * molecule.GetConformer().GetPositions()).sum(axis=0)
    return float(np.linalg.norm(moment)) * 4.803  # electron charges times angstroms


def main() -> None:
    """Write the file."""
    for name, (smiles, formula) in DRUGS.items():
        found = CalcMolFormula(Chem.MolFromSmiles(smiles))
        if found != formula:
            raise ValueError(f"{name} is {formula}, but its SMILES is {found}")
    known = [(name, smiles) for name, (smiles, _) in DRUGS.items()]
    library = [graph.to_smiles() for graph in library_graphs(2 * NUM_ROWS, 20)]
    neutral = [s for s in library if Chem.GetFormalCharge(Chem.MolFromSmiles(s)) == 0]
    rows = known + [("", smiles) for smiles in neutral[: NUM_ROWS - len(known)]]
    lines = [["Compound ID", "Name", "Canonical SMILES", "Dipole (D)", "Batch"]]
    for row, place in enumerate(np.random.default_rng(SEED).permutation(len(rows))):
        name, smiles = rows[place]
        value = dipole(smiles)
        text = "" if value is None or row % 30 == 17 else f"{value:.2f}"
        smiles += SALTS.get(name, "")
        if not name and row % 40 == 33:
            smiles = NO_MOLECULES[row // 40 % len(NO_MOLECULES)]
        lines.append([f"GR-{row:04d}", name, smiles, text, "ABC"[row % 3]])
    with OUT.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)


if __name__ == "__main__":
    main()

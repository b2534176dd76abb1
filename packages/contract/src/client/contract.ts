import { readContractFacts } from "./contract-facts.ts" with { type: "macro" }

/** The facts of the contract, put here as a literal when this file is transpiled. */
export const contract = readContractFacts()

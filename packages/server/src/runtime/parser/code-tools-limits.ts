import { workerDefaults } from "../worker-processes/worker-limits.ts"

/** What reading users' code may cost. Ordinary code takes a few milliseconds and less than 100 MB. */
export const codeToolsLimits = {
  ...workerDefaults,
  requestMsMax: 1_000,
  lifeSecondsMax: 20,
  responseBytesMax: 67_108_864,
  /** The most pieces of code in one request. */
  piecesPerRequestMax: 250,
  /** The most characters of the pieces in one request: no more than a single piece may have. */
  charsPerRequestMax: 256_000,
  /** The memory for JavaScript made from vals, so that a popular module is converted once. */
  cachedBytesMax: 16_777_216,
  /** The memory for the places of imports. */
  placeBytesMax: 8_388_608,
}

export type CodeToolsLimits = Readonly<typeof codeToolsLimits>

const ownCode = /^(?:packages|bench|scripts)\/.+\.(?:tsx?|mjs)$/

/** Whether a file is code of ours: of a package, a benchmark, a script or a test of them. */
export function isOwnCode(path: string): boolean {
  return ownCode.test(path)
}

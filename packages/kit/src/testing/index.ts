export { type Authority, type Certificate, createAuthority } from "./certificates.ts"
export { runExamples } from "./run-examples.ts"
export { waitUntil, waitUntilStable } from "./wait-until.ts"

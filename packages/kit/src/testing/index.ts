export { runExamples } from "./run-examples.ts"
export { waitUntil, waitUntilStable } from "./wait-until.ts"

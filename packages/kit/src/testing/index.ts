export { waitUntil, waitUntilStable } from "./wait-until.ts"

export {
  denoPath,
  findRuntimeFolder,
  hasBubblewrap,
  isGrouped,
  isRoot,
  listGroups,
  openSandboxes,
  readStatus,
} from "../sandboxes/testing/sandbox-testing.ts"
export { toBundle } from "../sandboxes/testing/to-bundle.ts"
export { readResponseText, toValResponse } from "../sandboxes/testing/val-response.ts"

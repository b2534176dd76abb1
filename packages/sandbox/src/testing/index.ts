export { readResponseText, toProgramResponse } from "../sandboxes/testing/program-response.ts"
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
export { packageLocationUrl, toBundle } from "../sandboxes/testing/to-bundle.ts"

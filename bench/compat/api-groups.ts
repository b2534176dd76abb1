import type { ApiGroup } from "./api-check.ts"
import { denoNamespace } from "./apis/deno.ts"
import { nodeNetwork, nodeSystem } from "./apis/node.ts"
import { webPlatform, webRequests } from "./apis/web.ts"

/** All groups of checks, in the order of the table. */
export const apiGroups: readonly ApiGroup[] = [
  webRequests,
  webPlatform,
  denoNamespace,
  nodeSystem,
  nodeNetwork,
]

/**
 * Runs programs of strangers: isolation, limits, a pool of processes, and one exit to the network that
 * the host decides about.
 *
 * ```ts
 * import { mkdtempSync, rmSync } from "node:fs"
 * import { tmpdir } from "node:os"
 * import { join } from "node:path"
 * import { openCodeRunner } from "@hamlet/sandbox"
 *
 * const dataDir = mkdtempSync(join(tmpdir(), "sandbox-"))
 * {
 *   await using runner = await openCodeRunner({ dataDir, limits: { runMsMax: 5_000 } })
 *   const sum = await runner.call("ada", "export default (a: number, b: number) => a + b", [1, 2])
 *   console.log(sum.json) // 3
 *   const reach = await runner.call("eve", 'export default () => fetch("https://example.com")', [])
 *   console.log(reach.json, reach.error?.name) // undefined TypeError
 * }
 * rmSync(dataDir, { recursive: true })
 * ```
 */

export { packagesScript } from "@hamlet/guest/protocol"
export { type CodeOutcome, type CodeRunner, openCodeRunner } from "./code-runner.ts"
export { explainUpstreamFailure } from "./egress/connect-errors.ts"
export { Egress } from "./egress/egress.ts"
export { egressLimits } from "./egress/egress-limits.ts"
export {
  type ConnectRoute,
  decide,
  type OwnServer,
  type RoutePolicy,
} from "./egress/policy/decide.ts"
export { createEgressPolicy, type EgressPolicy } from "./egress/policy/egress-policy.ts"
export { Refusal } from "./egress/policy/refusal.ts"
export { parseTarget, type Target } from "./egress/policy/target.ts"
export type { ReadSocketRequest } from "./egress/sockets/socket-request.ts"
export { Emitter } from "./emits/emitter.ts"
export { GuestClient } from "./guest-client/guest-client.ts"
export type { SandboxSource } from "./processes/pool.ts"
export { programLimits } from "./processes/program-limits.ts"
export { runnerLimits } from "./processes/runner-limits.ts"
export { Supervisor } from "./processes/supervisor.ts"
export {
  depthHeader,
  depthMax,
  type OutgoingRequest,
  type Substitution,
} from "./program/outgoing-request.ts"
export {
  type ModuleType,
  type ProgramModule,
  textType,
  toModuleType,
} from "./program/program-module.ts"
export {
  brokenResponse,
  type CallArgs,
  type CallOutcome,
  type Client,
  cancelledError,
  disconnectedError,
  type ExpectedStart,
  type HttpOutcome,
  isMailCall,
  type MailCall,
  type Program,
  type ProgramContent,
  type ProgramResponse,
  type Returned,
  type RunListener,
  type Runner,
  type RunnerStatus,
  type RunSlot,
  type SavedText,
  type SlotRequest,
  type SocketOutcome,
  type Stopped,
} from "./program/runner.ts"
export {
  type BundleFiles,
  type BundleScript,
  type StoredBundle,
  toStoredBundle,
} from "./program/stored-bundle.ts"
export { bundleProgram, toScript } from "./sandboxes/bundle-program.ts"
export { type Controller, findOwnGroups, type OwnGroup } from "./sandboxes/cgroups/cgroup-mounts.ts"
export { Cgroups } from "./sandboxes/cgroups/cgroups.ts"
export { parseGuestMessage } from "./sandboxes/control/guest-message.ts"
export type { EgressListener, EgressPaths } from "./sandboxes/egress-listener.ts"
export { adviseOnBubblewrap, listIsolationWarnings } from "./sandboxes/isolation-advice.ts"
export { identityOf, isAlive } from "./sandboxes/launch/process-identity.ts"
export type { ToolFailure, ToolJob, ToolLimits, ToolOutcome } from "./sandboxes/launch/tool-run.ts"
export { writeModule } from "./sandboxes/module-cache.ts"
export {
  archiveLimits,
  compressArchive,
  type FileList,
  packFiles,
  readArchive,
} from "./sandboxes/packages/file-archive.ts"
export { PackageFolders } from "./sandboxes/packages/package-folders.ts"
export type { Tool, ToolPaths } from "./sandboxes/profiles/tool-profile.ts"
export { RuntimeFolder } from "./sandboxes/runtime-folder.ts"
export { sandboxLimits } from "./sandboxes/sandbox-limits.ts"
export { type IsolationReport, Sandboxes, type SandboxOptions } from "./sandboxes/sandboxes.ts"
export { createSeccompFilter } from "./sandboxes/seccomp/seccomp-filter.ts"
export { type WorkerLimits, workerDefaults } from "./worker-processes/worker-limits.ts"
export {
  noOwner,
  type WorkerOutcome,
  WorkerProcessPool,
} from "./worker-processes/worker-process-pool.ts"
export type { WorkerOptions } from "./worker-processes/worker-profile.ts"

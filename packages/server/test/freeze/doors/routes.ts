import { limits, type RouteName, routes } from "@hamlet/contract"
import { operations } from "../../fuzz/operations.ts"
import type { Door, SlowRequest, Stage } from "../door.ts"
import { bodyBytesMax, invalidEscapes, smallValues } from "../worst-values.ts"

/**
 * The worst input of a route:
 *
 *   body    the largest body, with as many values as fit in each of its fields
 *   bytes   the largest body, of bytes that are not JSON
 *   page    the largest page
 *   plain   it has no input, and is only slow if its output is
 *   path    the longest path, of escapes that are no UTF-8; all routes get this too
 *
 * or a request that is worse than these. A route without a row does not compile.
 */
type RouteInput = "body" | "bytes" | "page" | "plain" | "path" | ((valId: string) => SlowRequest)

const args = `{"args":[${smallValues(bodyBytesMax - 100)}]}`
const longAgo = "2000-01-01"
const traceIds = Array.from({ length: limits.telemetryTracesMax }, (_, index) =>
  String(index).padStart(32, "0"),
).join()
const rareCron = "59 59 23 29 2 +7#5"
const escapes = "\\u00e9".repeat(limits.codeCharsMax)
const toBody = (method: string, path: string, value: unknown): SlowRequest => ({
  method,
  path,
  body: typeof value === "string" ? value : JSON.stringify(value),
})

/**
 * Files with as much text as a version may have. Each file has other trigrams, for the index of
 * searches.
 */
const largeFiles = (extension: string) =>
  Array.from({ length: 37 }, (_, number) => ({
    path: `large${number}.${extension}`,
    content: `${String.fromCharCode(0x4e00 + number)}abcdefghi;\n`.repeat(19_000),
  }))

/** A path as deep as paths can be, for as many files as there can be. */
const deepPath = Array.from({ length: 19 }, () => "d").join("/")
const manyFiles = (kind: "put" | "delete") =>
  Array.from({ length: limits.filesPerVersionMax - 10 }, (_, index) => ({
    path: `${deepPath}/${index}.ts`,
    ...(kind === "put" ? { content: "import x from './y.ts'" } : { delete: true }),
  }))
/** Files that import vals that exist, and some that do not. */
const importingFiles = (count: number) =>
  Array.from({ length: limits.filesPerVersionMax - 10 }, (_, number) => ({
    path: `${deepPath}/${number}.ts`,
    content: Array.from({ length: 5 * count }, (_, index) => `import "/v/ada/large${index}"`).join(
      "\n",
    ),
  }))
const manyMoves = Array.from({ length: limits.fileChangesMax }, (_, index) =>
  index % 2 === 0 ? { path: "d", newPath: "e" } : { path: "e", newPath: "d" },
)
/** Each version imports others of them. */
const importedHistories = Array.from({ length: limits.importValsMax }, (_, number) => ({
  name: `imported${number}`,
  versions: Array.from({ length: 40 }, (_, index) => ({
    code: Array.from({ length: 4 }, (_, n) => `import "/v/ada/imported${n}"`).join("\n") + index,
  })),
}))
const escaped = { type: "script", content: escapes.slice(0, limits.codeCharsMax) }

const routeInputs: Readonly<Record<RouteName, readonly RouteInput[]>> = {
  getMe: ["plain"],
  updateMe: ["body"],
  getMyUsage: ["plain"],
  listMyVals: ["page"],
  listMyValStates: ["plain"],
  listMyRuns: [
    "page",
    () => get(`/v1/me/runs?limit=100&text=${"%25".repeat(limits.runTextCharsMax)}`),
  ],
  listMyLogs: ["plain"],
  listMyLikes: ["page"],
  listMyComments: ["page"],
  listMyReferences: ["page"],
  listVals: ["page"],
  createVal: ["body", () => toBody("POST", "/v1/vals", `{"code":"${escapes}"}`)],
  saveVal: ["body", () => toBody("PUT", "/v1/vals", `{"name":"escapes","code":"${escapes}"}`)],
  importVals: ["body", () => toBody("POST", "/v1/vals/import", { vals: importedHistories })],
  searchVals: [
    "page",
    () => get(`/v1/search/vals?limit=100&query=${"-".repeat(limits.queryCharsMax - 1)}!`),
  ],
  getVal: ["plain"],
  updateVal: ["body"],
  deleteVal: ["path"],
  forkVal: ["body"],
  listForks: ["page"],
  listValRuns: ["page"],
  listVersions: ["page"],
  createVersion: ["body"],
  getVersion: ["plain"],
  deleteVersion: ["path"],
  getVersionLock: ["plain"],
  getVersionTypes: ["plain"],
  formatCode: [
    "body",
    () => toBody("POST", "/v1/format", { code: "[".repeat(limits.codeCharsMax), type: "script" }),
  ],
  resolveVersion: ["path"],
  createFolder: ["body"],
  listFolders: ["page"],
  getFolder: ["plain"],
  deleteFolder: ["path"],
  listMyFolders: ["page"],
  getFolderByName: ["plain"],
  listOrganisations: ["page"],
  createOrganisation: ["body"],
  getOrganisation: ["plain"],
  updateOrganisation: ["body"],
  deleteOrganisation: ["body"],
  listOrgMembers: ["page"],
  putOrgMember: ["body"],
  removeOrgMember: ["path"],
  listOrgInvitations: ["page"],
  createOrgInvitation: ["body"],
  revokeOrgInvitation: ["path"],
  listMyMemberships: ["page"],
  joinOrganisation: ["body"],
  acceptMembership: ["path"],
  declineMembership: ["path"],
  listOrgs: ["page"],
  listMemberships: ["path"],
  changeFiles: [
    "body",
    (valId) => toBody("POST", `/v1/vals/${valId}/files`, { changes: manyFiles("put") }),
    (valId) => toBody("POST", `/v1/vals/${valId}/files`, { changes: manyMoves }),
    (valId) => toBody("POST", `/v1/vals/${valId}/files`, { changes: largeFiles("ts") }),
    (valId) => toBody("POST", `/v1/vals/${valId}/files`, { changes: importingFiles(1) }),
    // Again, with other texts: it compares them with those before.
    (valId) => toBody("POST", `/v1/vals/${valId}/files`, { changes: importingFiles(2) }),
    // Too many.
    (valId) => toBody("POST", `/v1/vals/${valId}/files`, { changes: importingFiles(20) }),
    (valId) => toBody("POST", `/v1/vals/${valId}/files`, { changes: largeFiles("txt") }),
  ],
  listBranches: ["page"],
  createBranch: ["body", (valId) => toBody("POST", `/v2/vals/${valId}/branches`, { name: "big" })],
  getBranch: ["path"],
  deleteBranch: ["path"],
  getBranchDifference: ["path", (valId) => get(`/v1/vals/${valId}/branches/${valId}/diff`)],
  // What is worse needs a branch: a door of its own.
  mergeBranch: ["body"],
  listHistory: [
    "page",
    (valId) => toBody("POST", `/v1/vals/${valId}/files`, { changes: manyFiles("put") }),
    (valId) => get(`/v1/vals/${valId}/history?limit=100`),
  ],
  putVersionNote: ["body"],
  restoreFiles: ["body", (valId) => toBody("POST", `/v1/vals/${valId}/versions/1/restore`, {})],
  listFiles: [(valId) => get(`/v2/vals/${valId}/files?path=&recursive=true&limit=100`)],
  createFile: [
    (valId) =>
      toBody("POST", `/v2/vals/${valId}/files?path=${deepPath}/${"x".repeat(80)}`, escaped),
  ],
  updateFile: [(valId) => toBody("PUT", `/v2/vals/${valId}/files?path=main.tsx`, escaped)],
  getFileContent: [(valId) => get(`/v2/vals/${valId}/files/content?path=main.tsx`)],
  getFile: ["plain"],
  deleteFile: [
    (valId) => toBody("POST", `/v1/vals/${valId}/files`, { changes: manyFiles("delete") }),
    (valId) => ({ method: "DELETE", path: `/v2/vals/${valId}/files?path=d&recursive=true` }),
  ],
  getLike: ["plain"],
  likeVal: ["plain"],
  unlikeVal: ["plain"],
  listComments: ["page"],
  createComment: ["body"],
  deleteComment: ["path"],
  listValReferences: ["page"],
  listValDependencies: ["page"],
  createRun: ["body", (valId) => toBody("POST", `/v1/vals/${valId}/runs`, args)],
  sendTestEmail: ["body"],
  callVal: ["body", () => toBody("POST", "/v1/run/ada.takesArgs", args)],
  callValByQuery: [() => get(`/v1/run/ada.takesArgs?args=${smallValues(15_000)}`)],
  evalCode: ["body"],
  evalCodeByQuery: ["path", () => get(`/v1/eval/1?args=${smallValues(15_000)}`)],
  getRun: ["path"],
  getRunLogs: ["path"],
  cancelRun: ["path"],
  cancelEvaluation: ["path"],
  cancelEvaluationById: ["path"],
  replayRun: ["body"],
  getMyStats: [() => get(`/v1/me/stats?buckets=${limits.statBucketsMax}`)],
  listMyActivity: [() => get(`/v1/me/activity?buckets=${limits.activityBucketsMax}`)],
  getValStats: [(valId) => get(`/v1/vals/${valId}/stats?buckets=${limits.statBucketsMax}`)],
  listTraces: [
    "page",
    () => get("/v1/telemetry/traces?limit=100&order_by=end_time"),
    () => get(`/v1/telemetry/traces?limit=100&order_by=end_time&direction=asc&start=${longAgo}`),
  ],
  listTelemetryLogs: [
    "page",
    () => get(`/v1/telemetry/logs?limit=100&direction=asc&start=${longAgo}`),
    () => get(`/v1/telemetry/logs?limit=100&trace_ids=${traceIds}`),
  ],
  putSchedule: ["body", (valId) => toBody("PUT", `/v1/vals/${valId}/schedule`, { cron: rareCron })],
  getSchedule: ["plain"],
  deleteSchedule: ["path"],
  listMySchedules: ["page"],
  previewSchedule: [
    () => get(`/v1/schedules/preview?cron=${encodeURIComponent(rareCron)}`),
    () => get(`/v1/schedules/preview?cron=${encodeURIComponent("0 0 0 30 2 +7#5")}`),
  ],
  sendValRequest: ["body"],
  createPreview: ["plain"],
  listUsers: ["page"],
  createUser: ["body"],
  getUser: ["path"],
  listUserVals: ["page"],
  getUserByName: ["plain"],
  getValByName: ["plain"],
  getUserAccount: ["path"],
  deleteUser: ["path"],
  suspendUser: ["body"],
  unsuspendUser: ["path"],
  createUserToken: ["body"],
  getUserUsage: ["path"],
  getUserQuotas: ["path"],
  putUserQuotas: ["body"],
  listInvitations: ["page"],
  createInvitation: ["body"],
  revokeInvitation: ["path"],
  acceptInvitation: ["body"],
  listAuditEntries: ["page"],
  listNodes: ["page"],
  listTokens: ["page"],
  createToken: ["body"],
  revokeToken: ["path"],
  listSecrets: ["page"],
  putSecret: ["body"],
  deleteSecret: ["path"],
  listValSecrets: ["page"],
  putValSecret: ["body"],
  deleteValSecret: ["path"],
  listEnvironmentVariables: ["page"],
  createEnvironmentVariable: ["body"],
  putEnvironmentVariable: ["body"],
  deleteEnvironmentVariable: ["path"],
  createSession: ["body"],
  findSignInLinkOwner: ["body"],
  listSessions: ["page"],
  deleteSession: ["path"],
  deleteAllSessions: ["path"],
  signOut: ["path"],
  createSignInLink: ["path"],
  startProviderSignIn: ["path"],
  finishProviderSignIn: ["body"],
  signUpWithProvider: ["body"],
  listIdentities: ["page"],
  linkIdentity: ["body"],
  unlinkIdentity: ["path"],
  listNotifications: ["page"],
  countNotifications: ["plain"],
  readNotifications: ["body"],
  getNotificationSettings: ["plain"],
  putNotificationSettings: ["body"],
  listAuthorizations: ["page"],
  createAuthorization: ["body"],
  deleteAuthorization: ["path"],
  checkAuthorization: ["body"],
  listWebhooks: ["page"],
  createWebhook: ["body"],
  getWebhook: ["path"],
  updateWebhook: ["body"],
  deleteWebhook: ["path"],
  rotateWebhookSecret: ["path"],
  testWebhook: ["path"],
  listDeliveries: ["page"],
  getDelivery: ["path"],
  retryDelivery: ["path"],
  listBlobs: [() => get(`/v1/blob?limit=${limits.blobListItemsMax}`)],
  getBlob: ["plain"],
  putBlob: ["bytes"],
  deleteBlob: ["path"],
  executeSql: ["body"],
  batchSql: [
    "body",
    () =>
      toBody("POST", "/v1/sqlite/batch", {
        statements: Array.from({ length: 9_000 }, () => ({ sql: "select ?, ?", args: [1, 2] })),
      }),
  ],
  listValBlobs: [(valId) => get(`/v2/blob?limit=${limits.blobListItemsMax}&val_id=${valId}`)],
  getValBlob: [(valId) => get(`/v2/blob/k?val_id=${valId}`)],
  putValBlob: [(valId) => toBytes(`/v2/blob/k?val_id=${valId}`, new Uint8Array(bodyBytesMax))],
  deleteValBlob: ["path"],
  executeValSql: [
    (valId) => toBytes(`/v2/sqlite/execute?val_id=${valId}`, toLargestBody("executeValSql")),
  ],
  batchValSql: [
    (valId) => toBytes(`/v2/sqlite/batch?val_id=${valId}`, toLargestBody("batchValSql")),
  ],
  sendEmail: ["body"],
  listMyEmails: ["page"],
  getMyEmail: ["path"],
  resendEmail: ["path"],
  sendEmailCode: ["path"],
  confirmEmail: ["body"],
  putUserEmail: ["body"],
  createChatCompletion: [() => toBody("POST", "/v1/openai/chat/completions", smallValues(900_000))],
  createSlackToken: ["body"],
  createGoogleDocsToken: ["body"],
  getBackup: ["plain"],
  getModule: ["plain"],
  getModuleFile: ["plain", "path"],
  getStandardModule: ["plain"],
  getOpenApi: ["plain"],
  getDocs: ["plain"],
  getHealth: ["plain"],
  getReadiness: ["plain"],
  getMetrics: ["plain"],
}

/** What a path names, where an attack does not care. */
const values: Readonly<Record<string, string>> = {
  val_name: "takesArgs",
  version: "1",
  username: "ada",
  name: "FREEZE",
  key: "k",
  variable: "FREEZE",
  module: "blob",
}

/** Bytes of a path that the server accepts in a request line. */
const pathBytesMax = 14_000

function get(path: string): SlowRequest {
  return { method: "GET", path }
}

function toBytes(path: string, body: SlowRequest["body"]): SlowRequest {
  return { method: "POST", path, ...(body === undefined ? {} : { body }) }
}

/** The doors of the API: each route with each of its inputs. */
export const routeDoors: readonly Door[] = [
  ...(Object.keys(routeInputs) as RouteName[]).flatMap((name) => {
    const inputs = routeInputs[name].includes("path")
      ? routeInputs[name]
      : [...routeInputs[name], "path" as const]
    return inputs.map((input, index) => ({
      name: `${name}: ${typeof input === "string" ? input : `request ${index + 1}`}`,
      drive: async (stage: Stage) => void (await stage.send(toRequest(name, input, stage.valId))),
    }))
  }),
  { name: "mergeBranch: texts without a common line", drive: mergeWorst },
]

/**
 * Characters of each line of a large file that is merged. Shorter lines are more work for the
 * thread that compares them, and for it only.
 */
const mergedLineChars = 500

/** Each line differs on both sides, in some files of the largest size and in many small ones. */
async function mergeWorst({ client, send }: Stage): Promise<void> {
  const { id: val_id } = await client.createVal({ code: "1", name: `merge${Date.now()}` })
  const toChanges = (side: string) => [
    ...Array.from({ length: 2 }, (_, index) => ({
      path: `large/${index}.txt`,
      content: `${side.repeat(mergedLineChars - 1)}\n`.repeat(
        limits.codeCharsMax / mergedLineChars,
      ),
    })),
    ...Array.from({ length: 500 }, (_, index) => ({
      path: `small/${index}.txt`,
      content: `${side}${index}\n`.repeat(50),
    })),
  ]
  await client.changeFiles({ val_id, changes: toChanges("a") })
  const { id: branch_id } = await client.createBranch({ val_id, name: "worst" })
  await client.changeFiles({ val_id, changes: toChanges("b") })
  await client.changeFiles({ val_id, branch_id, changes: toChanges("c") })
  await send(toBody("POST", `/v1/vals/${val_id}/branches/${branch_id}/merge`, {}))
  await client.deleteVal({ val_id })
}

function toRequest(name: RouteName, input: RouteInput, valId: string): SlowRequest {
  if (typeof input === "function") return input(valId)
  const { method, path } = routes[name]
  const filled = toPath(path, valId)
  const request = { method: method.toUpperCase(), path: filled }
  if (input === "page") return { ...request, path: `${filled}?limit=100` }
  if (input === "bytes") return { ...request, body: new Uint8Array(bodyBytesMax) }
  if (input === "body") return { ...request, body: toLargestBody(name) }
  if (input === "path") return { ...request, path: toLongPath(path) }
  return request
}

function toPath(path: string, valId: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? valId)
}

/** In its parameters, or as a query if it has none. */
function toLongPath(path: string): string {
  const count = path.match(/\{/g)?.length ?? 0
  if (count === 0) return `${path}?q=${invalidEscapes(pathBytesMax)}`
  return path.replaceAll(/\{\w+\}/g, invalidEscapes(pathBytesMax / count))
}

function toLargestBody(name: RouteName): string {
  const fields = Object.keys(operations.find(({ id }) => id === name)?.body?.properties ?? {})
  const share = Math.floor(bodyBytesMax / Math.max(1, fields.length)) - 100
  return `{${fields.map((field) => `${JSON.stringify(field)}:${smallValues(share)}`).join()}}`
}

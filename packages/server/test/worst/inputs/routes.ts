import { limits, type RouteName } from "@hamlet/contract"
import { smallValues } from "../../freeze/worst-values.ts"
import type { World } from "../world/world.ts"
import { toControl, worldLimits } from "../world/world-limits.ts"
import {
  code,
  deepArgs,
  headersMax,
  hostsMax,
  importedVals,
  importingFiles,
  largeFiles,
  largeMail,
  manyRows,
  next,
  statements,
  testMail,
  wideArgs,
} from "./bodies.ts"

/** The largest request that a route accepts, where it does not follow from the schemas. */
export interface RouteRow {
  /** Names of the path that differ from those of the world. */
  readonly path?: (world: World) => Readonly<Record<string, string>>
  readonly query?: (world: World) => string
  /** Fields that differ from the largest ones; a text or bytes are the whole body. */
  readonly body?: (world: World) => object | string | Uint8Array
  /** Statuses that are right too, where it acts on what is not there. */
  readonly also?: readonly number[]
}

const absent = "00000000-0000-7000-8000-000000000000"
const absentIds = Object.fromEntries(
  [
    "val_id",
    "branch_id",
    "comment_id",
    "run_id",
    "token_id",
    "session_id",
    "identity_id",
    "authorization_id",
    "invitation_id",
    "email_id",
    "delivery_id",
    "user_id",
  ].map((name) => [name, absent]),
)
const page = "limit=100"

/** A row whose path, largest page and largest body follow from the table of routes. */
const plain: RouteRow = {}
/** A row whose request acts on what is not there, so that it can be repeated. */
const missing: RouteRow = { path: () => absentIds, also: [404] }
/** No mail server, provider or connection: the body is read before it is refused. */
const refused: RouteRow = { also: [400, 401, 403, 404, 409, 410, 422, 501, 502, 503] }
const ofVersions: RouteRow = { path: (world) => ({ val_id: world.versionsId, version: "50" }) }
const ofFiles: RouteRow = { path: (world) => ({ val_id: world.filesId, version: "11" }) }
const ofBranches: RouteRow = { path: (world) => ({ val_id: world.branchesId }) }
const ofArgs: RouteRow = { path: () => ({ val_name: "takesArgs" }) }
const ofChanged = (world: World) => ({ val_id: world.changedId, version: "1" })

/** A route without a row does not compile. */
export const worstRoutes: Readonly<Record<RouteName, readonly RouteRow[] | RouteRow>> = {
  getMe: plain,
  updateMe: { body: () => ({ email: null }) },
  getMyUsage: plain,
  listMyVals: plain,
  listMyValStates: plain,
  listMyRuns: [plain, { query: () => `${page}&text=zzz` }],
  listMyLogs: plain,
  listMyLikes: plain,
  listMyComments: plain,
  listMyReferences: plain,
  listVals: [plain, { query: () => `${page}&sort=likes` }],
  createVal: { body: () => ({ name: `created${next()}` }) },
  saveVal: { body: () => ({ name: "saved", code: `${code}${next()}` }) },
  importVals: [
    { body: () => ({ vals: importedVals(next()), ifExists: "version", dryRun: false }) },
    {
      body: () => ({
        ifExists: "version",
        dryRun: false,
        vals: [
          {
            name: "history",
            versions: [{ code: String(next()) }],
            comments: Array.from({ length: limits.importCommentsMax }, () => ({
              author: "a",
              comment: "\u0001".repeat(20),
            })),
          },
        ],
      }),
    },
  ],
  searchVals: [
    { query: () => `${page}&query=worst` },
    { query: () => `${page}&query=${encodeURIComponent(toControl(limits.queryCharsMax))}` },
  ],
  getVal: ofVersions,
  updateVal: {
    path: ofChanged,
    body: () => ({ name: "changed", imageUrl: null, description: "d".repeat(64) }),
  },
  deleteVal: missing,
  forkVal: { ...ofFiles, body: () => ({ name: `fork${next()}`, version: 11 }) },
  listForks: plain,
  listValRuns: plain,
  listVersions: ofVersions,
  createVersion: { path: ofChanged, body: () => ({ name: "changed", code: `${code}${next()}` }) },
  getVersion: ofVersions,
  deleteVersion: missing,
  getVersionLock: ofVersions,
  getVersionTypes: ofVersions,
  formatCode: { body: () => ({ code }) },
  resolveVersion: ofVersions,
  createFolder: { body: () => ({ name: `folder${next()}`, orgId: undefined }) },
  listFolders: plain,
  getFolder: ofFiles,
  deleteFolder: missing,
  listMyFolders: plain,
  getFolderByName: plain,
  listOrgs: plain,
  listMemberships: missing,
  changeFiles: [
    { path: ofChanged, body: () => ({ changes: importingFiles(next()) }) },
    {
      path: ofChanged,
      body: () => ({ changes: largeFiles(next()) }),
    },
  ],
  listBranches: ofBranches,
  createBranch: {
    ...ofFiles,
    also: [409, 422],
    body: () => ({ name: `new${next()}`, branchId: undefined }),
  },
  getBranch: ofFiles,
  deleteBranch: missing,
  getBranchDifference: [
    ofFiles,
    { ...ofFiles, query: (world) => `other_branch_id=${world.filesId}` },
  ],
  mergeBranch: {
    ...ofFiles,
    also: [409],
    body: () => ({ into: "parent", resolved: [], sourceVersion: undefined }),
  },
  listHistory: ofVersions,
  putVersionNote: ofVersions,
  restoreFiles: { ...ofFiles, body: () => ({ path: undefined }) },
  listFiles: { ...ofFiles, query: () => `${page}&path=&recursive=true` },
  createFile: {
    path: ofChanged,
    query: () => `path=n${next()}.txt`,
    body: () => ({ type: "file", content: toControl(limits.codeCharsMax) }),
    also: [409, 422],
  },
  updateFile: {
    path: ofChanged,
    query: () => "path=main.tsx",
    body: () => ({
      type: undefined,
      name: undefined,
      parent_path: undefined,
      content: `${code}${next()}`,
    }),
  },
  getFileContent: { ...ofVersions, query: () => "path=main.tsx" },
  getFile: { path: (world) => ({ file_id: world.versionsId }) },
  deleteFile: { path: ofChanged, query: () => "path=absent&recursive=true", also: [404] },
  getLike: plain,
  likeVal: plain,
  unlikeVal: plain,
  listComments: plain,
  createComment: plain,
  deleteComment: missing,
  listValReferences: plain,
  listValDependencies: plain,
  createRun: [
    { path: (world) => ({ val_id: world.vals.takesArgs }), body: () => wideArgs },
    { path: (world) => ({ val_id: world.vals.takesArgs }), body: () => deepArgs },
    { path: (world) => ({ val_id: world.vals.largeRuns }), body: () => `{"args":[]}` },
  ],
  sendTestEmail: [
    { path: (world) => ({ val_id: world.vals.inbox }), body: () => testMail },
    {
      path: (world) => ({ val_id: world.vals.inbox }),
      body: () => `{"raw":"From: a@b.example\\n\\n${"\\n".repeat(1_000_000)}"}`,
      also: [422],
    },
  ],
  callVal: [
    { ...ofArgs, body: () => wideArgs },
    { ...ofArgs, body: () => deepArgs },
  ],
  callValByQuery: { ...ofArgs, query: () => `args=[${smallValues(15_000)}]` },
  evalCode: { body: () => ({ code: `${code}export default 1`, args: [toControl(80_000)] }) },
  evalCodeByQuery: { path: () => ({ code: "1" }), query: () => `args=[${smallValues(15_000)}]` },
  getRun: plain,
  getRunLogs: plain,
  cancelRun: missing,
  cancelEvaluation: missing,
  cancelEvaluationById: missing,
  replayRun: { body: () => wideArgs, also: [404, 409, 422] },
  getMyStats: { query: () => `buckets=${limits.statBucketsMax}` },
  listMyActivity: { query: () => `buckets=${limits.activityBucketsMax}` },
  getValStats: { query: () => `buckets=${limits.statBucketsMax}` },
  listTraces: plain,
  listTelemetryLogs: plain,
  putSchedule: {
    path: ofChanged,
    body: () => `{"cron":"59 59 23 29 2 *"}`,
    also: [404, 409, 422],
  },
  getSchedule: missing,
  deleteSchedule: missing,
  listMySchedules: plain,
  previewSchedule: { query: () => `cron=${encodeURIComponent("59 59 23 29 2 +7#5")}` },
  sendValRequest: {
    path: (world) => ({ val_id: world.vals.large }),
    body: () => ({
      method: "POST",
      path: "/",
      headers: headersMax,
      body: toControl(300_000),
      bodyBase64: undefined,
      file: undefined,
      branch: undefined,
    }),
  },
  createPreview: { path: (world) => ({ val_id: world.vals.large }) },
  listUsers: plain,
  createUser: { body: () => ({ username: `user${next()}`, email: null }) },
  getUser: plain,
  listUserVals: plain,
  getUserByName: plain,
  getValByName: { path: () => ({ val_name: "versions" }) },
  getUserAccount: plain,
  deleteUser: { path: () => ({ user_id: absent }), also: [404] },
  suspendUser: { path: () => ({ user_id: absent }), also: [404] },
  unsuspendUser: { path: () => ({ user_id: absent }), also: [404] },
  createUserToken: {
    path: () => ({ user_id: absent }),
    body: () => ({ expiresAt: null }),
    also: [404],
  },
  getUserUsage: plain,
  getUserQuotas: plain,
  putUserQuotas: {
    path: () => ({ user_id: absent }),
    body: () => ({ runsAtOnce: 4 }),
    also: [404],
  },
  listInvitations: plain,
  createInvitation: {
    body: () => ({ note: toControl(limits.noteCharsMax), hours: 1 }),
    also: [409, 422],
  },
  revokeInvitation: missing,
  acceptInvitation: refused,
  listAuditEntries: plain,
  listNodes: plain,
  listTokens: plain,
  createToken: { body: () => ({ expiresAt: null }) },
  revokeToken: missing,
  listSecrets: plain,
  putSecret: { body: () => ({ value: toControl(limits.secretValueBytesMax), hosts: hostsMax }) },
  deleteSecret: { path: () => ({ name: "ABSENT" }), also: [404] },
  listValSecrets: plain,
  putValSecret: { body: () => ({ value: toControl(limits.secretValueBytesMax), hosts: hostsMax }) },
  deleteValSecret: { path: () => ({ name: "ABSENT" }), also: [404] },
  listEnvironmentVariables: plain,
  createEnvironmentVariable: { body: () => ({ key: `KEY${next()}` }), also: [409, 422] },
  putEnvironmentVariable: missing,
  deleteEnvironmentVariable: missing,
  createSession: refused,
  findSignInLinkOwner: refused,
  listSessions: plain,
  deleteSession: missing,
  deleteAllSessions: plain,
  signOut: refused,
  createSignInLink: plain,
  startProviderSignIn: refused,
  finishProviderSignIn: refused,
  signUpWithProvider: refused,
  listIdentities: plain,
  linkIdentity: refused,
  unlinkIdentity: missing,
  listNotifications: plain,
  countNotifications: plain,
  readNotifications: { body: () => ({ ids: Array.from({ length: 100 }, () => absent) }) },
  getNotificationSettings: plain,
  putNotificationSettings: plain,
  listAuthorizations: plain,
  createAuthorization: refused,
  deleteAuthorization: missing,
  checkAuthorization: refused,
  listWebhooks: plain,
  createWebhook: {
    body: (world) => ({
      url: undefined,
      targetValId: world.valId,
      valId: null,
      isPaused: true,
      description: toControl(limits.webhookDescriptionCharsMax),
    }),
    also: [409, 422],
  },
  getWebhook: plain,
  updateWebhook: {
    body: () => ({ url: undefined, targetValId: undefined, valId: null, isPaused: true }),
  },
  deleteWebhook: { path: () => ({ webhook_id: absent }), also: [404] },
  rotateWebhookSecret: plain,
  testWebhook: { also: [409, 422] },
  listDeliveries: plain,
  getDelivery: missing,
  retryDelivery: missing,
  listBlobs: { query: () => `limit=${limits.blobListItemsMax}` },
  getBlob: plain,
  putBlob: { path: () => ({ key: "put" }), body: () => new Uint8Array(worldLimits.blobBytes) },
  deleteBlob: { path: () => ({ key: "absent" }), also: [404] },
  executeSql: [
    { body: () => ({ statement: manyRows }) },
    { body: () => ({ statement: { sql: `select '${"\u0001".repeat(300_000)}'`, args: [] } }) },
  ],
  batchSql: { body: () => ({ statements }) },
  listValBlobs: { query: (world) => `limit=${limits.blobListItemsMax}&val_id=${world.valId}` },
  getValBlob: { query: (world) => `val_id=${world.valId}`, also: [404] },
  putValBlob: {
    query: (world) => `val_id=${world.valId}`,
    body: () => new Uint8Array(worldLimits.blobBytes),
  },
  deleteValBlob: {
    path: () => ({ key: "absent" }),
    query: (world) => `val_id=${world.valId}`,
    also: [404],
  },
  executeValSql: {
    query: (world) => `val_id=${world.valId}`,
    body: () => ({ statement: manyRows }),
  },
  batchValSql: { query: (world) => `val_id=${world.valId}`, body: () => ({ statements }) },
  sendEmail: { ...refused, body: () => largeMail },
  listMyEmails: plain,
  getMyEmail: missing,
  resendEmail: refused,
  sendEmailCode: refused,
  confirmEmail: refused,
  putUserEmail: { path: () => ({ user_id: absent }), body: () => ({ email: null }), also: [404] },
  createChatCompletion: {
    ...refused,
    body: () => `{"model":"x","messages":${smallValues(900_000)}}`,
  },
  createSlackToken: refused,
  createGoogleDocsToken: refused,
  getBackup: plain,
  // Control characters are no JavaScript.
  getModule: { also: [422] },
  getModuleFile: { path: () => ({ val_name: "files", file_path: "d/f1.txt" }) },
  getStandardModule: plain,
  getOpenApi: plain,
  getDocs: plain,
  getHealth: plain,
  getReadiness: plain,
  getMetrics: { also: [401, 403, 404] },
}

import { accessSync, constants, mkdirSync, readFileSync } from "node:fs"
import { hostname } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { ErrorCode } from "@hamlet/contract"
import { buildDocsPage, openApp, type WebApp } from "@hamlet/web"
import packageJson from "../package.json" with { type: "json" }
import { composeRuntime, openOwnerDatabases, type Runtime } from "./compose-runtime.ts"
import { createStores } from "./compose-stores.ts"
import type { Config } from "./config.ts"
import { RunTokens } from "./domain/accounts/run-tokens.ts"
import { TokenUses } from "./domain/accounts/token-uses.ts"
import { AppError } from "./domain/app-error.ts"
import { Backups } from "./domain/backups.ts"
import { createUploads } from "./domain/blobs/uploads.ts"
import { createAllowances } from "./domain/limits/allowances.ts"
import { createQuotaBook } from "./domain/limits/quotas.ts"
import type { DependencyResolver } from "./domain/modules/lockfiles.ts"
import { createPendingLockfiles } from "./domain/modules/pending-lockfiles.ts"
import { createPrograms } from "./domain/modules/programs.ts"
import { listRemoteImports } from "./domain/modules/remote-imports.ts"
import type { StandardModuleName } from "./domain/modules/standard-modules.ts"
import type { Node } from "./domain/nodes.ts"
import { RunFollowers } from "./domain/runs/follow-run.ts"
import { LiveRuns } from "./domain/runs/live-runs.ts"
import type { Runner } from "./domain/runs/runner.ts"
import { createCipher } from "./domain/secrets/cipher.ts"
import { createGateway, type Gateway } from "./gateway/gateway.ts"
import { createApp } from "./http/app.ts"
import { createSessionCookie } from "./http/auth/session-cookie.ts"
import type { BuiltPage, HttpDeps } from "./http/deps.ts"
import { createLog, type Log } from "./http/ops/log.ts"
import { LargeBodies } from "./http/request/large-bodies.ts"
import { createLinks } from "./http/response/links.ts"
import { AccountWatch } from "./jobs/account-watch.ts"
import { DependencyJob } from "./jobs/dependency-job.ts"
import { Housekeeping } from "./jobs/housekeeping.ts"
import { NodeWatch } from "./jobs/node-watch.ts"
import { CodeTools } from "./runtime/parser/code-tools.ts"
import { runnerLimits } from "./runtime/processes/runner-limits.ts"
import { identityOf, isAlive } from "./runtime/sandbox/launch/process-identity.ts"
import type { IsolationReport } from "./runtime/sandbox/sandboxes.ts"
import { Counter } from "./shared/counter.ts"
import { LoopDelay } from "./shared/loop-delay.ts"
import { findKeyFile, loadKeyFile, readKeyFile } from "./storage/accounts/key-file.ts"
import { createBackupSource } from "./storage/backup/backup-source.ts"
import { createObjectStore } from "./storage/blobs/objects.ts"
import { createBucketPlace } from "./storage/blobs/s3-objects.ts"
import type { Database } from "./storage/database/database.ts"
import { findNotedSince, migrate } from "./storage/database/migrate.ts"
import { guardSchema, NewerSchema, type SchemaGuard } from "./storage/database/schema-guard.ts"
import { createSettingStore, type SettingStore } from "./storage/database/settings.ts"
import { reach } from "./storage/migrations/0003-reach.ts"
import { migrations } from "./storage/migrations/index.ts"
import { createNodeStore } from "./storage/nodes.ts"
import { openPostgres } from "./storage/postgres/open.ts"
import { findLostDatabase, lostDatabaseAdvice } from "./storage/sqlite/lost-database.ts"
import { openSqlite } from "./storage/sqlite/open.ts"

/** The program, put together and ready to be asked. */
export interface Hamlet {
  readonly app: ReturnType<typeof createApp>
  readonly gateway: Gateway
  readonly deps: HttpDeps
  readonly settings: SettingStore
  readonly log: Log
  /** Where the data is, in words for the operator. */
  readonly database: string
  /** Gets ready to run vals, before the first is asked for. */
  start(): Promise<IsolationReport>
  /** Ends background work and closes the database; the last thing before the process ends. */
  stop(): Promise<void>
}

/** What a test puts in the place of the real thing. */
export interface Replacements {
  open?(config: Config): Promise<Database>
  readonly runner?: Runner
  /** Null for none: what vals import from elsewhere is then never fetched. */
  readonly resolver?: DependencyResolver | null
  /** Where the log goes. */
  writeLog?(text: string): void
}

/**
 * Puts the program together: opens the database, brings its schema up to date and wires everybody
 * to everybody.
 */
export async function compose(config: Config, replacements: Replacements = {}): Promise<Hamlet> {
  prepareDataDir(config.dataDir)
  const known = config.secretKeys ?? findKeyFile(config.dataDir)
  const db = await (replacements.open ?? openDatabase)(config)
  try {
    const { to: schemaVersion } = await migrate(db, migrations)
    // Made after the schema: a key beside an empty database is the sign of one that was lost.
    const keys = known ?? loadKeyFile(config.dataDir)
    const locksSince = await findNotedSince(db, reach.version)
    const {
      runner,
      resolver,
      writeLog = (text: string) => process.stderr.write(text),
    } = replacements
    const log = createLog(config.logLevel, writeLog)
    const { hamlet, nodeWatch, accountWatch } = wire({
      config,
      db,
      keys,
      schemaVersion,
      locksSince,
      runner,
      resolver,
      log,
    })
    await nodeWatch.start()
    await accountWatch.start()
    return hamlet
  } catch (error) {
    await db.stop()
    throw error
  }
}

function prepareDataDir(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    accessSync(path, constants.W_OK)
  } catch (cause) {
    throw new AppError(
      "database_unavailable",
      `Cannot use the data folder "${path}": ${cause instanceof Error ? cause.message : cause}`,
      {
        cause,
      },
    )
  }
}

function openDatabase(config: Config): Promise<Database> {
  if (config.databaseUrl)
    return openPostgres(config.databaseUrl, { connectionsMax: config.databaseConnectionsMax })
  const lost = findLostDatabase(config.dataDir)
  if (lost !== undefined)
    throw new AppError("database_unavailable", `Cannot start: ${lost}; ${lostDatabaseAdvice}`)
  return Promise.resolve(openSqlite(sqlitePath(config)))
}

function sqlitePath(config: Config): string {
  return join(config.dataDir, "hamlet.db")
}

/**
 * Large bodies take a quarter of the runs that a val may have, and those of one client half of
 * that.
 */
function toUploadLimits(runsPerValMax: number) {
  return {
    uploadsPerValMax: Math.max(1, Math.floor(runsPerValMax / 4)),
    uploadsPerClientMax: Math.max(1, Math.floor(runsPerValMax / 8)),
  }
}

/**
 * What a request that runs a val may take beyond the run: waiting for its turn, and for the
 * database.
 */
const requestMsMore = 60_000
/** How long a run waits for packages that are still being fetched. */
const packagesMsMax = 30_000

type OnError = (error: unknown) => void

interface Foundation {
  readonly config: Config
  readonly db: Database
  readonly keys: readonly Uint8Array[]
  readonly schemaVersion: number
  readonly locksSince: number
  readonly runner: Runner | undefined
  readonly resolver: DependencyResolver | null | undefined
  readonly log: Log
}

interface Wired {
  readonly hamlet: Hamlet
  readonly nodeWatch: NodeWatch
  readonly accountWatch: AccountWatch
}

/**
 * The foundation with a database that is guarded against writes once its schema is newer, of which
 * the log hears.
 */
function guard(given: Foundation) {
  const { log } = given
  const schema = guardSchema(given.db, given.schemaVersion, (problem) =>
    log.error("newer_schema", { problem }),
  )
  const onError: OnError = (error) => {
    // It was said when it was found, and all that is written in the background fails from then on.
    if (!(error instanceof NewerSchema)) log.error("background", { error: toLogText(error) })
  }
  return { schema, onError, foundation: { ...given, db: schema.db } }
}

function wire(given: Foundation): Wired {
  const { schema, onError, foundation } = guard(given)
  const { config, db, log } = foundation
  const codeTools = new CodeTools({
    isolation: config.isolation,
    onGaveUp: (gaveUp) => log.warn("parser_gave_up", gaveUp),
    onWeak: (message) => onError(new Error(message)),
  })
  const quotas = createQuotaBook()
  const runtime = composeRuntime(config, {
    runsAtOnceOf: (accountId) => quotas.find(accountId)?.runsAtOnce,
    // Vals have no address. Each account is counted for itself, so that none can use up what all
    // others ask without a token.
    fetchApi: (request, accountId) =>
      app.fetch(request, { address: () => "a val", rateKey: `val of ${accountId}` }),
    isValHost: (host) => gateway.isValHost(host),
    takeBytes: (accountId, bytes) => rules.allowances.takeBytes(accountId, bytes),
    onAvailability: (problem) =>
      problem === undefined
        ? log.info("sandboxes_available")
        : log.error("sandboxes_unavailable", { problem }),
    onError,
  })
  const { runner = runtime.supervisor, resolver = runtime.resolver } = foundation
  const rules = createRules(
    { ...foundation, runner, resolver, quotas },
    runtime,
    codeTools,
    onError,
  )
  const deps = createHttpDeps(
    { ...foundation, schema },
    rules,
    runtime,
    codeTools,
    (request, visitor) => {
      // As the proxy in front would have written it.
      if (config.addressHeader) request.headers.set(config.addressHeader, visitor.address())
      return gateway.fetchAs(request, visitor)
    },
  )
  const app = createApp(deps)
  const gateway = createGateway({
    ...rules,
    baseUrl: config.baseUrl,
    valsDomain: config.valsDomain,
    runs: rules.liveRuns,
    logRequest: log.writes("info") ? (fields) => log.info("val_request", fields) : undefined,
    hasAddressesInLog: config.hasAddressesInLog,
    limits: {
      requestBytesMax: config.runs.valBodyBytesMax,
      streamMsMax: config.runs.streamMsMax,
      ...toUploadLimits(config.runs.perValMax),
      headMsMax: config.runs.runMsMax + runnerLimits.waitMsMax + runnerLimits.shareWaitMsMax,
    },
  })
  const { keptDays, keptPerVal, keptBytesPerAccount } = config.runs
  const retention = { keptMs: keptDays * 86_400_000, keptPerVal, keptBytesPerAccount }
  const housekeeping = new Housekeeping({ ...rules, retention })
  housekeeping.start()
  rules.dependencyJob?.start()
  const node = {
    id: rules.nodeId,
    host: hostname(),
    pid: process.pid,
    pidStarted: identityOf(process.pid) ?? "",
  }
  const nodes = {
    nodes: createNodeStore(db),
    hasEnded: ({ pidStarted }: Node) => !isAlive(pidStarted),
  }
  const nodeWatch = new NodeWatch({ ...rules, ...nodes, node, checkSchema: schema.check })
  const hamlet: Hamlet = {
    app,
    gateway,
    deps,
    settings: createSettingStore(db),
    log,
    database: config.databaseUrl ? db.dialect.name : `${db.dialect.name} in ${sqlitePath(config)}`,
    start: runtime.start,
    async stop() {
      await housekeeping.stop()
      await rules.dependencyJob?.stop()
      deps.followers.stop()
      gateway.stop()
      await runtime.stop()
      await rules.backups.stop()
      await rules.ownerDatabases.stop()
      await rules.liveRuns.stop()
      await rules.runTokens.stop()
      await nodeWatch.stop()
      await rules.accountWatch.stop()
      await rules.tokenUses.stop()
      await codeTools.stop()
      await deps.largeBodies.stop()
      deps.loopDelay.stop()
      await db.stop()
      log.flush()
    },
  }
  return { hamlet, nodeWatch, accountWatch: rules.accountWatch }
}

interface RuleFoundation extends Foundation {
  readonly runner: Runner
  readonly quotas: ReturnType<typeof createQuotaBook>
}

/** Where it happened is of interest only if nobody expected it. */
function toLogText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error instanceof AppError ? error.message : (error.stack ?? error.message)
}

/** What the rules of the domain need, whoever asks. */
function createRules(
  foundation: RuleFoundation,
  runtime: Runtime,
  codeTools: CodeTools,
  onError: OnError,
) {
  const { config, db, keys, runner, quotas } = foundation
  const stores = createStores(db)
  const common = {
    now: Date.now,
    newId: () => Bun.randomUUIDv7(),
    onError,
    nodeId: Bun.randomUUIDv7(),
  }
  // A process that has had its time may have an answer to finish.
  const lifeMsMax = config.runs.processMsMax + config.runs.streamMsMax
  const { s3 } = config.storage
  const rules = {
    ...stores,
    ...common,
    cipher: createCipher(keys, () => config.secretKeys ?? readKeyFile(config.dataDir)),
    requestMsMax: config.runs.runMsMax + requestMsMore,
    ...createLockRules(foundation, stores, codeTools, common),
    allowances: createAllowances(config.allowances, common.now, quotas),
    quotas,
    startedAt: common.now(),
    usageLimits: {
      runsAtOnceMax: config.runs.perAccountMax,
      blobBytesMax: config.storage.blobsBytesMax,
      sqliteBytesMax:
        config.databaseUrl && !config.storage.isDataDirShared
          ? null
          : config.storage.sqliteBytesMax,
    },
    objects: createObjectStore({
      ...common,
      db,
      bucket: s3 && createBucketPlace(s3, config.storage.blobBytesMax),
    }),
    uploads: createUploads(),
    backups: createBackups(config, db, common.now),
    blobLimits: config.storage,
    ownerDatabases: openOwnerDatabases(config, ownerFolder(config), db, onError),
    standardModules: { blob: readStandardModule("blob"), sqlite: readStandardModule("sqlite") },
    scanImports: (code: string, ownerId: string) => codeTools.scanImports(code, ownerId),
    scanManyImports: (codes: readonly string[], ownerId: string) =>
      codeTools.scanManyImports(codes, ownerId),
    sessionMs: config.sessionDays * 86_400_000,
    links: createLinks(config.baseUrl, config.valsDomain),
    isForOneUser: runtime.isForOneUser,
    tokenUses: new TokenUses(stores.tokens, onError),
    runTokens: new RunTokens({ ...common, tokens: stores.tokens, lifeMsMax }),
    liveRuns: new LiveRuns({ ...common, runs: stores.runs }),
    runner,
    refusals: new Counter<ErrorCode>(),
  }
  const accountWatch = new AccountWatch({ ...rules, accountBook: quotas })
  return { ...rules, accountWatch, programs: createPrograms(rules) }
}

/** What fetches the packages of vals, and who waits for them. */
function createLockRules(
  { config, locksSince, resolver }: Foundation,
  { locks, versions }: ReturnType<typeof createStores>,
  codeTools: CodeTools,
  { now, onError }: { now(): number; readonly onError: OnError },
) {
  const importHosts = { baseUrls: [config.baseUrl, ...config.formerBaseUrls] }
  // Whoever waits has to have time left for the run.
  const pendingLocks = createPendingLockfiles(locks, now, {
    waitMsMax: Math.min(packagesMsMax, config.runs.runMsMax / 2),
  })
  const { resolveMsMax } = config.dependencies
  const dependencyJob =
    resolver &&
    new DependencyJob({
      ...{ locks, versions, pendingLocks, resolver, resolveMsMax, now, onError },
      listRemoteImports: async ({ code, ownerId }) =>
        listRemoteImports(code, await codeTools.scanImports(code, ownerId), importHosts),
    })
  return {
    ...{ importHosts, locksSince, pendingLocks, dependencyJob, resolveMsMax },
    resolver: resolver ?? null,
    lockWork: dependencyJob ?? { wake() {} },
  }
}

/** Each node would have other ones if nodes share nothing but the database. */
function ownerFolder({ databaseUrl, dataDir, storage }: Config): string | undefined {
  return databaseUrl !== undefined && !storage.isDataDirShared ? undefined : join(dataDir, "sqlite")
}

function createBackups(config: Config, db: Database, now: () => number): Backups {
  const { databaseUrl, storage } = config
  const place = { sqlitePath: sqlitePath(config), databaseUrl, ownerFolder: ownerFolder(config) }
  const orders = {
    ...place,
    bucket: storage.s3,
    objectBytesMax: storage.blobBytesMax,
    serverVersion: packageJson.version,
    dataDir: config.dataDir,
  }
  return new Backups(createBackupSource(db, orders, now))
}

function readStandardModule(name: StandardModuleName): string {
  return readFileSync(fileURLToPath(import.meta.resolve(`@hamlet/std/${name}`)), "utf8")
}

function createHttpDeps(
  { config, db, schemaVersion, schema, log }: Foundation & { readonly schema: SchemaGuard },
  rules: ReturnType<typeof createRules>,
  runtime: Runtime,
  codeTools: CodeTools,
  visitVal: HttpDeps["visitVal"],
): HttpDeps {
  let docs: Promise<BuiltPage> | undefined
  let web: Promise<WebApp> | undefined
  return {
    ...rules,
    visitVal,
    followers: new RunFollowers(rules),
    toJavaScript: (code, ownerId) => codeTools.toJavaScript(code, ownerId),
    sessionCookie: createSessionCookie(config.baseUrl),
    log,
    hasAddressesInLog: config.hasAddressesInLog,
    isolationWarnings: runtime.isolationWarnings,
    version: packageJson.version,
    bodyBytesMax: config.bodyBytesMax,
    allowsAnonymousRuns: config.allowsAnonymousRuns,
    largeBodies: new LargeBodies(),
    loopDelay: new LoopDelay(),
    rateLimits: {
      perTokenPerMinute: config.ratePerToken,
      perAddressPerMinute: config.ratePerAddress,
    },
    docsPage() {
      docs ??= buildDocsPage()
      return docs
    },
    webApp() {
      web ??= openApp(join(config.dataDir, "web")).catch((error: unknown) => {
        // The next one who asks has another try.
        web = undefined
        throw error
      })
      return web
    },
    valsDomain: config.valsDomain,
    async checkDatabase() {
      await db.ping()
      await schema.check()
      return { database: db.dialect.name, schemaVersion }
    },
    databaseStats: () => db.stats(),
  }
}

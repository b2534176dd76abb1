import { hostname } from "node:os"
import { createAccounts } from "./composition/accounts.ts"
import { createApi } from "./composition/api.ts"
import { createEmails } from "./composition/emails.ts"
import {
  type Foundation,
  openFoundation,
  type Replacements,
  sqlitePath,
} from "./composition/foundation.ts"
import { createIdentities } from "./composition/identities.ts"
import { createMail, createMailServer } from "./composition/mail.ts"
import { createModules } from "./composition/modules.ts"
import { createRuns } from "./composition/runs.ts"
import { createRuntime, type Runtime } from "./composition/runtime.ts"
import { createSchedules } from "./composition/schedules.ts"
import { createServices } from "./composition/services.ts"
import { createUserData } from "./composition/user-data.ts"
import { createVals } from "./composition/vals.ts"
import { createWebhooks } from "./composition/webhooks.ts"
import type { Config } from "./config/config.ts"
import type { Node } from "./domain/nodes.ts"
import { toRetryDelay } from "./domain/queue/backoff.ts"
import type { GatewayDeps } from "./gateway/deps.ts"
import { createGateway, type Gateway } from "./gateway/gateway.ts"
import { type App, createApp } from "./http/app.ts"
import type { Nouns } from "./http/nouns.ts"
import type { Log } from "./http/ops/log.ts"
import { AccountWatch } from "./jobs/account-watch.ts"
import { Housekeeping } from "./jobs/housekeeping.ts"
import { NodeWatch } from "./jobs/node-watch.ts"
import type { MailServer } from "./mail/mail-server.ts"
import { runnerLimits } from "./runtime/processes/runner-limits.ts"
import { identityOf, isAlive } from "./runtime/sandbox/launch/process-identity.ts"
import type { IsolationReport } from "./runtime/sandbox/sandboxes.ts"
import { createSettingStore, type SettingStore } from "./storage/database/settings.ts"
import { createNodeStore } from "./storage/nodes.ts"

export type { Replacements }

/** The whole program, ready for requests. */
export interface Hamlet {
  readonly app: App
  readonly gateway: Gateway
  /** Receives mail; undefined if the operator wants no mail server. */
  readonly mailServer: MailServer | undefined
  /** The parts of all nouns. */
  readonly deps: AllParts
  readonly settings: SettingStore
  readonly log: Log
  /** The kind of database and its place, for the operator. */
  readonly database: string
  /** Prepares the machine to run vals and starts processes for the pool. */
  start(): Promise<IsolationReport>
  /** Stops background work and closes the database. */
  stop(): Promise<void>
}

/** The composition root: opens the database, builds each noun and starts the background jobs. */
export async function compose(config: Config, replacements: Replacements = {}): Promise<Hamlet> {
  const foundation = await openFoundation(config, replacements)
  try {
    const { hamlet, jobs } = build(foundation, replacements)
    await jobs.nodeWatch.start()
    await jobs.accountWatch.start()
    await hamlet.deps.mailWorker.start()
    return hamlet
  } catch (error) {
    await foundation.db.stop()
    throw error
  }
}

type AllParts = Pick<Rules, "runTokens" | "mailWorker" | "standardScripts"> &
  Nouns["accounts"] &
  Nouns["vals"] &
  Nouns["modules"] &
  Nouns["runs"] &
  Nouns["schedules"] &
  Nouns["userData"] &
  Nouns["webhooks"] &
  Nouns["services"] &
  Nouns["api"]

type Rules = Foundation &
  ReturnType<typeof createAccounts> &
  ReturnType<typeof createIdentities> &
  ReturnType<typeof createVals> &
  ReturnType<typeof createModules> &
  ReturnType<typeof createUserData> &
  ReturnType<typeof createMail> &
  ReturnType<typeof createEmails> &
  ReturnType<typeof createRuns> &
  ReturnType<typeof createSchedules> &
  ReturnType<typeof createWebhooks>

interface Parts {
  readonly deps: Rules & ReturnType<typeof createApi>
  readonly jobs: ReturnType<typeof startJobs>
  readonly gateway: Gateway
  readonly mailServer: MailServer | undefined
  readonly runtime: Runtime
}

function build(foundation: Foundation, replacements: Replacements) {
  const { config, db, log, onError } = foundation

  // 1. The nouns. The runtime sends requests of vals to the API and the gateway, which need it in
  // turn: it receives functions that are first called when both exist.
  const accounts = createAccounts(foundation)
  const identities = createIdentities(foundation)
  const vals = createVals(foundation)
  const runtime = createRuntime(config, {
    runsAtOnceOf: (accountId) => accounts.quotas.find(accountId)?.runsAtOnce,
    // A val has no client address. Each account gets a rate limit of its own, so that no account
    // can use up the limit of all unauthenticated requests.
    fetchApi: (request, accountId, runId) =>
      app.fetch(request, {
        address: () => "a val",
        rateKey: `val of ${accountId}`,
        isVal: true,
        runId,
      }),
    isValHost: (host) => gateway.isValHost(host),
    takeBytes: (accountId, bytes) => accounts.allowances.takeBytes(accountId, bytes),
    onAvailability: (problem) =>
      problem === undefined
        ? log.info("sandboxes_available")
        : log.error("sandboxes_unavailable", { problem }),
    onError,
  })
  const { runner = runtime.supervisor, resolver = runtime.resolver } = replacements
  const modules = createModules(foundation, vals, resolver)
  const userData = createUserData(foundation)
  const emails = createEmails(foundation)
  const mail = createMail(foundation, userData.objects)
  const runs = createRuns(foundation, { ...accounts, ...vals, ...modules, ...mail }, runner)
  const schedules = createSchedules(foundation, vals, runs)
  const webhooks = createWebhooks(
    foundation,
    { ...accounts, ...vals, ...runs },
    runtime.webhookClient,
  )

  // 2. The background jobs.
  const rules = {
    ...{ ...foundation, ...accounts, ...identities, ...vals, ...modules },
    ...{ ...userData, ...emails, ...mail, ...runs, ...schedules, ...webhooks },
  }
  const jobs = startJobs(rules)

  // 3. The mail server, the API and the gateway.
  const mailServer = createMailServer(foundation, rules)
  const api = createApi(foundation)
  const deps: AllParts = {
    ...rules,
    ...createServices(foundation),
    ...api,
    accountWatch: jobs.accountWatch,
    mailStats: () => mailServer?.stats,
    startedAt: foundation.now(),
    ...{ isForOneUser: runtime.isForOneUser, isolationWarnings: runtime.isolationWarnings },
    formatter: replacements.formatter ?? runtime.formatter,
    toJavaScript: (code, ownerId) => vals.codeTools.toJavaScript(code, ownerId),
    fetchVal(request, principal) {
      // The gateway reads the client's address from the header that a proxy in front would set.
      if (config.addressHeader) request.headers.set(config.addressHeader, principal.address())
      return gateway.fetchAs(request, principal)
    },
  }
  const app = createApp(toNouns(deps))
  const gateway = createGateway(toGatewayDeps(rules))

  const hamlet: Hamlet = {
    ...{ app, gateway, mailServer, deps },
    settings: createSettingStore(db),
    log,
    database: config.databaseUrl ? db.dialect.name : `${db.dialect.name} in ${sqlitePath(config)}`,
    start: runtime.start,
    stop: () => stopAll({ deps: { ...rules, ...api }, jobs, gateway, mailServer, runtime }),
  }
  return { hamlet, jobs }
}

/** In this order: first what starts new work, then what runs it, then what records it. */
async function stopAll({ deps, jobs, gateway, mailServer, runtime }: Parts): Promise<void> {
  await mailServer?.stop()
  await deps.scheduleJob.stop()
  await deps.queue.stop()
  await jobs.housekeeping.stop()
  await deps.mailWorker.stop()
  await deps.webhookWork.stop()
  await deps.dependencyJob?.stop()
  deps.followers.stop()
  gateway.stop()
  await runtime.stop()
  await deps.backups.stop()
  await deps.ownerDatabases.stop()
  await deps.liveRuns.stop()
  await deps.runTokens.stop()
  await jobs.nodeWatch.stop()
  await jobs.accountWatch.stop()
  await deps.tokenUses.stop()
  await deps.codeTools.stop()
  await deps.largeBodies.stop()
  await deps.mailReader.stop()
  deps.loopDelay.stop()
  await deps.db.stop()
  deps.log.flush()
}

/**
 * A rule may need parts of several nouns, so each noun is the object with all parts. Its type shows
 * only the parts of that noun.
 */
function toNouns(parts: AllParts): Nouns {
  return {
    ...{ accounts: parts, vals: parts, modules: parts, runs: parts, userData: parts },
    ...{ schedules: parts, webhooks: parts, services: parts, api: parts },
  }
}

function toGatewayDeps(rules: Rules): GatewayDeps {
  const { config, log } = rules
  return {
    ...rules,
    runs: rules.liveRuns,
    baseUrl: config.baseUrl,
    valsDomain: config.valsDomain,
    logRequest: log.writes("info") ? (fields) => log.info("val_request", fields) : undefined,
    hasAddressesInLog: config.hasAddressesInLog,
    limits: toGatewayLimits(config),
  }
}

function toGatewayLimits({ runs }: Config) {
  return {
    requestBytesMax: runs.valBodyBytesMax,
    streamMsMax: runs.streamMsMax,
    // Large bodies take at most a quarter of a val's run slots, and one client half of that.
    uploadsPerValMax: Math.max(1, Math.floor(runs.perValMax / 4)),
    uploadsPerClientMax: Math.max(1, Math.floor(runs.perValMax / 8)),
    headMsMax: runs.runMsMax + runnerLimits.waitMsMax + runnerLimits.shareWaitMsMax,
  }
}

function startJobs(rules: Rules) {
  const { config, db, schema } = rules
  const { keptDays, keptPerVal, keptBytesPerAccount } = config.runs
  const retention = { keptMs: keptDays * 86_400_000, keptPerVal, keptBytesPerAccount }
  const housekeeping = new Housekeeping({ ...rules, retention })
  housekeeping.start()
  rules.scheduleJob.start()
  rules.dependencyJob?.start()
  const nodeWatch = new NodeWatch({
    ...rules,
    node: {
      id: rules.nodeId,
      host: hostname(),
      pid: process.pid,
      pidStarted: identityOf(process.pid) ?? "",
    },
    nodes: createNodeStore(db),
    hasEnded: ({ pidStarted }: Node) => !isAlive(pidStarted),
    checkSchema: schema.check,
    delayOf: toRetryDelay,
    onLost: () => rules.queue.loseAll(),
    onTakeover: (taken) => rules.queue.noteTakeover(taken),
  })
  const accountWatch = new AccountWatch({ ...rules, accountBook: rules.quotas })
  return { housekeeping, nodeWatch, accountWatch }
}

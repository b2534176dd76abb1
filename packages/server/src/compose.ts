import { prepareOnce } from "@hamlet/kit"
import { type IsolationReport, runnerLimits } from "@hamlet/sandbox"
import { buildPageScript } from "@hamlet/web"
import { composeAccounts, createLimits } from "./composition/accounts.ts"
import { createApi } from "./composition/api.ts"
import type { OwnServers } from "./composition/egress.ts"
import {
  describeDatabase,
  type Foundation,
  openFoundation,
  type Replacements,
} from "./composition/foundation.ts"
import { composeIdentities } from "./composition/identities.ts"
import { composeInboundMail, composeOutboundMail, createMailServer } from "./composition/mail.ts"
import { composeModules, readStandardModules } from "./composition/modules.ts"
import { createNodeWatch, createServiceWatch } from "./composition/nodes.ts"
import { composeRuns, composeSchedules } from "./composition/runs.ts"
import { createRuntime } from "./composition/runtime.ts"
import { createStores, type Stores } from "./composition/stores.ts"
import { composeUserData } from "./composition/user-data.ts"
import { composeVals } from "./composition/vals.ts"
import { composeWebhooks } from "./composition/webhooks.ts"
import type { Config } from "./config/config.ts"
import { toReceivingDomain } from "./config/mail.ts"
import { createFormatting } from "./domain/modules/format-code.ts"
import { createPreviews } from "./domain/requests/preview-pass.ts"
import { createValRequests, type FetchVal } from "./domain/requests/val-requests.ts"
import { LiveRuns } from "./domain/runs/live-runs.ts"
import { createCipher } from "./domain/secrets/cipher.ts"
import { createValStorage } from "./domain/val-storage.ts"
import type { GatewayDeps } from "./gateway/deps.ts"
import { createGateway, type Gateway } from "./gateway/gateway.ts"
import { type App, createApp } from "./http/app.ts"
import type { ApiParts, Nouns } from "./http/nouns.ts"
import type { Log } from "./http/ops/log.ts"
import { createLinks } from "./http/response/links.ts"
import { Housekeeping } from "./jobs/housekeeping.ts"
import type { MailServer } from "./mail/inbound/mail-server.ts"
import { readKeyFile } from "./storage/accounts/key-file.ts"
import { createSettingStore, type SettingStore } from "./storage/settings.ts"

export type { Replacements }

/** The whole program, ready for requests. */
export interface Hamlet {
  readonly app: App
  readonly gateway: Gateway
  /** Receives mail; undefined if the operator wants no mail server. */
  readonly mailServer: MailServer | undefined
  readonly nouns: Nouns
  readonly stores: Stores
  /** The parts that the nouns are built from, for commands and tests. */
  readonly parts: Parts
  readonly settings: SettingStore
  readonly log: Log
  /** The kind of database and its place, for the operator. */
  readonly database: string
  /** Prepares the machine to run vals and starts processes for the pool. */
  start(): Promise<IsolationReport>
  /** From now on `/readyz` says that the server is stopping, while it still serves. */
  announceStop(): void
  /** Stops background work and closes the database. */
  stop(): Promise<void>
}

/** The composition root: opens the database, builds each noun and starts the background jobs. */
export async function compose(config: Config, replacements: Replacements = {}): Promise<Hamlet> {
  const foundation = await openFoundation(config, replacements)
  try {
    const { hamlet, jobs } = await build(foundation, replacements)
    await jobs.nodeWatch.start()
    foundation.db.notify("hamlet_nodes")
    foundation.db.listen("hamlet_nodes", () => jobs.nodeWatch.look())
    await hamlet.parts.accounts.accountWatch.start()
    await hamlet.parts.outboundMail.mailWorker.start()
    return hamlet
  } catch (error) {
    await foundation.db.stop()
    throw error
  }
}

/** What the program consists of. */
export type Parts = Awaited<ReturnType<typeof buildParts>>

async function build(foundation: Foundation, replacements: Replacements) {
  const { config, db, log } = foundation
  // The runtime sends requests of vals to the API and the gateway, which need it in turn: it receives
  // functions that are first called when both exist.
  const parts = await buildParts(foundation, replacements, {
    fetchApi: (request, connection) => app.fetch(request, connection),
    isValHost: (host) => gateway.isValHost(host),
  })
  const mailServer = await createMailServer(foundation, parts.inboundMail, parts.limits)
  const stopping = new AbortController()
  const api: ApiParts = {
    ...createApi(foundation, parts.limits, parts.links),
    nodeStatus: () => jobs.nodeWatch.status,
    serviceStatus: () => jobs.serviceWatch.status,
    isStopping: () => stopping.signal.aborted,
    mailStats: () => mailServer?.stats,
    readSentMail: parts.outboundMail.readSentMail,
    readSentEvents: parts.webhooks.readSentEvents,
    isForOneUser: parts.runtime.isForOneUser,
    isolationWarnings: parts.runtime.isolationWarnings,
  }
  const jobs = startJobs(parts, api)
  const nouns = listNouns(parts, api, replacements, (request, sender) => {
    // The gateway reads the client's address from the header that a proxy in front would set.
    if (config.addressHeader) request.headers.set(config.addressHeader, sender.address())
    return gateway.fetchAs(request, sender)
  })
  const app = createApp(nouns)
  const gateway = createGateway(toGatewayDeps(parts))
  const hamlet: Hamlet = {
    app,
    gateway,
    mailServer,
    nouns,
    stores: parts.stores,
    parts,
    log,
    settings: createSettingStore(db),
    database: describeDatabase(foundation),
    async start() {
      const isolation = await parts.runtime.start()
      // Its report says now how vals are isolated.
      jobs.nodeWatch.look()
      return isolation
    },
    announceStop: () => stopping.abort(),
    stop: () => stopAll(parts, jobs, api, gateway, mailServer),
  }
  return { hamlet, jobs }
}

/** Builds each noun from its stores and the nouns that it needs. */
async function buildParts(foundation: Foundation, replacements: Replacements, own: OwnServers) {
  const { config, keys, nodeId, onErrorOf } = foundation
  const links = createLinks(config.baseUrl, config.valsDomain, toReceivingDomain(config))
  const stores = createStores(foundation, links)
  const limits = createLimits(foundation, stores)
  const runtime = createRuntime(foundation, limits, own)
  const { runner = runtime.supervisor, resolver = runtime.resolver } = replacements
  const cipher = createCipher(keys, () => config.secretKeys ?? readKeyFile(config.dataDir))
  const liveRuns = new LiveRuns(stores.runs, nodeId, foundation, onErrorOf("records of runs"))
  const userData = await composeUserData(foundation, stores, limits)
  const outboundMail = await composeOutboundMail(foundation, stores, limits, liveRuns)
  const accounts = composeAccounts(foundation, stores, limits, {
    cipher,
    runner,
    liveRuns,
    outgoingMail: outboundMail.outgoingMail,
    ownerDatabases: userData.ownerDatabases,
    isForOneUser: runtime.isForOneUser,
  })
  const { users, sessions, runTokens } = accounts
  const identities = composeIdentities(foundation, stores, cipher, sessions, users)
  const modules = composeModules(foundation, stores, resolver)
  const vals = composeVals(foundation, stores, modules, runner, cipher, users)
  const runParts = { modules, vals, limits, liveRuns, runner, runTokens, cipher, links }
  const runs = composeRuns(foundation, stores, runParts)
  const { queue, queueRoom } = runs
  const runAdder = { queue, queueRoom, allowances: limits.allowances }
  const { webhookClient } = runtime
  return {
    foundation,
    links,
    stores,
    limits,
    runtime,
    runner,
    cipher,
    liveRuns,
    userData,
    accounts,
    identities,
    modules,
    vals,
    runs,
    outboundMail,
    inboundMail: composeInboundMail(foundation, stores, limits, runs),
    schedules: composeSchedules(foundation, stores, vals.vals, queue, runner),
    webhooks: composeWebhooks(
      foundation,
      stores,
      vals.vals,
      cipher,
      webhookClient,
      links,
      runAdder,
    ),
  }
}

/** The nouns of the API. `Nouns` lists which of the objects that were built are nouns. */
function listNouns(
  parts: Parts,
  api: ApiParts,
  { formatter = parts.runtime.formatter }: Replacements,
  fetchVal: FetchVal,
): Nouns {
  const { foundation, links, stores, limits, liveRuns, runner, vals, runs } = parts
  return {
    ...parts.identities,
    ...parts.accounts,
    ...vals,
    ...runs,
    ...parts.userData,
    ...parts.webhooks,
    api,
    allowances: limits.allowances,
    audit: stores.audit,
    clock: foundation,
    formatting: createFormatting(formatter),
    liveRuns,
    nodes: stores.nodes,
    outgoingMail: parts.outboundMail.outgoingMail,
    parser: parts.modules.codeTools,
    previews: createPreviews({ calls: runs.calls, cipher: parts.cipher, links, clock: foundation }),
    runner,
    schedules: parts.schedules.schedules,
    standardModules: readStandardModules(),
    testMails: parts.inboundMail.testMails,
    valStorage: createValStorage(vals.vals),
    valRequests: createValRequests(runs.calls, liveRuns, links, fetchVal),
  }
}

/** In this order: first what starts new work, then what runs it, then what records it. */
async function stopAll(
  parts: Parts,
  jobs: ReturnType<typeof startJobs>,
  api: ApiParts,
  gateway: Gateway,
  mailServer: MailServer | undefined,
): Promise<void> {
  const { accounts, modules, runs, userData, foundation } = parts
  await mailServer?.stop()
  await parts.schedules.scheduleJob.stop()
  await runs.queue.stop()
  await jobs.housekeeping.stop()
  await jobs.serviceWatch.stop()
  await parts.outboundMail.mailWorker.stop()
  await parts.webhooks.worker.stop()
  await modules.dependencyJob?.stop()
  runs.followers.stop()
  gateway.stop()
  await parts.runtime.stop()
  await userData.backups.stop()
  await userData.ownerDatabases.stop()
  await parts.liveRuns.stop()
  await accounts.runTokens.stop()
  await parts.limits.budgets.stop()
  await jobs.nodeWatch.stop()
  await accounts.accountWatch.stop()
  await accounts.tokenUses.stop()
  await modules.codeTools.stop()
  await parts.vals.lineMerger.stop()
  await api.largeBodies.stop()
  await api.mcpPool.stop()
  await parts.inboundMail.mailReader.stop()
  api.loopDelay.stop()
  await foundation.traces?.stop()
  await foundation.db.stop()
  foundation.log.flush()
}

function toGatewayDeps(parts: Parts): GatewayDeps {
  const { foundation, stores, accounts, runs, limits, cipher, runner, liveRuns } = parts
  const { config, log, schema, newId, now, onErrorOf, slowRequests, tracer } = foundation
  return {
    vals: stores.vals,
    tokens: accounts.tokens,
    tokenUses: accounts.tokenUses,
    programs: runs.programs,
    responses: runs.responses,
    allowances: limits.allowances,
    refusals: limits.refusals,
    cipher,
    schema,
    runner,
    liveRuns,
    newId,
    now,
    pageScript: prepareOnce(buildPageScript),
    onError: onErrorOf("gateway"),
    baseUrl: config.baseUrl,
    valsDomain: config.valsDomain,
    logRequest: log.writes("info") ? (fields) => log.info("val_request", fields) : undefined,
    slowRequests,
    tracer,
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
    headMsMax: runs.runMsMax + runs.processWaitMsMax + runnerLimits.shareWaitMsMax,
  }
}

function startJobs(parts: Parts, api: ApiParts) {
  const { foundation, stores, webhooks, outboundMail } = parts
  const { config, now, onErrorOf } = foundation
  const { keptDays, keptPerVal, keptBytesPerAccount } = config.runs
  const housekeeping = new Housekeeping({
    ...stores,
    emails: outboundMail.emails,
    deliveries: webhooks.deliveryStore,
    deliveriesPerWebhook: webhooks.deliveriesPerWebhook,
    liveRuns: parts.liveRuns,
    now,
    ownerDatabases: parts.userData.ownerDatabases,
    retention: { keptMs: keptDays * 86_400_000, keptPerVal, keptBytesPerAccount },
    onError: onErrorOf("housekeeping"),
  })
  housekeeping.start()
  parts.schedules.scheduleJob.start()
  parts.modules.dependencyJob?.start()
  const { dependencyJob } = parts.modules
  const workers = [
    webhooks.worker,
    outboundMail.mailWorker,
    ...(dependencyJob ? [dependencyJob] : []),
  ]
  const { runner, limits } = parts
  const nodeParts = { api, runner, queue: parts.runs.queue, workers, budgets: limits.budgets }
  const serviceWatch = createServiceWatch(foundation)
  serviceWatch.start()
  return { housekeeping, serviceWatch, nodeWatch: createNodeWatch(foundation, stores, nodeParts) }
}

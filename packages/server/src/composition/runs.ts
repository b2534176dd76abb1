import { toRetryDelay } from "@hamlet/kit"
import type { Runner } from "@hamlet/sandbox"
import type { RunTokens } from "../domain/accounts/run-tokens.ts"
import { createStartedFiles } from "../domain/files/started-files.ts"
import { createMailInputs } from "../domain/mail/inbound/receive-mail.ts"
import { createPrograms, type Programs } from "../domain/modules/programs.ts"
import {
  type ClaimedRuns,
  createBegunRuns,
  createClaimedRuns,
} from "../domain/queue/claimed-runs.ts"
import { createQueuedRuns } from "../domain/queue/queued-runs.ts"
import { createQueueRoom } from "../domain/queue/run-queue.ts"
import { workBackoff } from "../domain/queue/work-backoff.ts"
import { createCalls } from "../domain/runs/calls.ts"
import { createRequestContents } from "../domain/runs/contents/request-content.ts"
import { ResponseKeeper, responseLimits } from "../domain/runs/contents/response-keeper.ts"
import { createEvaluations } from "../domain/runs/eval-code.ts"
import { createRunStarter, type RunStarter } from "../domain/runs/execute-run.ts"
import { RunFollowers } from "../domain/runs/follow/follow-run.ts"
import type { LiveRuns } from "../domain/runs/live-runs.ts"
import { createReplays } from "../domain/runs/replay/replay-run.ts"
import { createRuns } from "../domain/runs/runs.ts"
import { createSchedules } from "../domain/schedules/schedules.ts"
import type { Cipher } from "../domain/secrets/cipher.ts"
import { createSecretOpener, type SecretOpener } from "../domain/secrets/open-secrets.ts"
import { createRunStats } from "../domain/stats/stats.ts"
import { createTelemetry, type Telemetry } from "../domain/telemetry/telemetry.ts"
import type { Vals } from "../domain/vals/vals.ts"
import type { Links } from "../http/response/links.ts"
import { QueueWorker, queueWorkerLimits } from "../jobs/queue-worker.ts"
import { ScheduleJob } from "../jobs/schedule-job.ts"
import type { Limits } from "./accounts.ts"
import type { Foundation } from "./foundation.ts"
import { type composeModules, createStandardScripts } from "./modules.ts"
import type { Stores } from "./stores.ts"
import type { composeVals } from "./vals.ts"

/** The channel on which nodes tell each other that runs wait. */
const queueChannel = "hamlet_queue"

interface RunParts {
  readonly modules: ReturnType<typeof composeModules>
  readonly vals: ReturnType<typeof composeVals>
  readonly limits: Limits
  readonly liveRuns: LiveRuns
  readonly runner: Runner
  readonly runTokens: RunTokens
  readonly cipher: Cipher
  readonly links: Links
}

/** Runs: the programs that they run, those that wait or go on, and the records of all. */
export function composeRuns(foundation: Foundation, stores: Stores, parts: RunParts) {
  const { config } = foundation
  const { vals, versions } = parts.vals
  const { liveRuns, runner } = parts
  const { allowances } = parts.limits
  const secrets = createSecretOpener(stores.secrets, stores.valSecrets, parts.cipher)
  const programs = composePrograms(foundation, stores, parts, secrets)
  const mailInputs = createMailInputs(stores.mails, stores.objects)
  const kept = { ...responseLimits, bodyBytesMax: config.runs.responseBytesKept }
  const responses = new ResponseKeeper(kept, foundation.now)
  const runs = createRuns(stores.runs, vals, liveRuns, foundation)
  const starter = createRunStarter(liveRuns, runner, programs, allowances, foundation)
  const startedFiles = createStartedFiles(stores.versionFiles)
  const calls = createCalls({
    starter,
    vals,
    versions,
    programs,
    startedFiles,
    mailInputs,
    runs: stores.runs,
    clock: foundation,
  })
  const replays = createReplays({
    starter,
    runs,
    store: stores.runs,
    vals,
    versions,
    startedFiles,
    responses,
    mailInputs,
  })
  const claimedRuns = createClaimedRuns({
    stores,
    startedFiles,
    liveRuns,
    runner,
    programs,
    responses,
    mailInputs,
    allowances,
    begunRuns: createBegunRuns(stores.nodes, foundation.nodeId),
    delayOf: (attempt) => toRetryDelay(workBackoff, attempt),
  })
  const queue = createQueue(foundation, stores, claimedRuns, liveRuns)
  const room = createQueueRoom(stores.queue, config.runs.queuedPerAccountMax, foundation)
  return {
    runs,
    calls,
    replays,
    programs,
    responses,
    mailInputs,
    queue,
    queueRoom: room,
    queuedRuns: createQueuedRuns({
      store: stores.queue,
      queue,
      room,
      calls,
      replays,
      runs,
      allowances,
      clock: foundation,
    }),
    evaluations: composeEvaluations(foundation, stores, parts, starter, programs),
    runStats: createRunStats(stores.stats, vals, foundation),
    requestContents: createRequestContents(stores.runs, secrets),
    telemetry: composeTelemetry(foundation, stores, vals, secrets),
    followers: new RunFollowers(runs, liveRuns, stores.runs, vals, stores.members),
  }
}

function composeEvaluations(
  foundation: Foundation,
  stores: Stores,
  { vals: { vals }, modules: { sources, fetching }, runner }: RunParts,
  starter: RunStarter,
  programs: Programs,
) {
  const { resolveMsMax } = foundation.config.dependencies
  const packages = { resolver: fetching.resolver, resolveMsMax }
  return createEvaluations({
    starter,
    vals,
    files: stores.versionFiles,
    sources,
    programs,
    runner,
    packages,
    clock: foundation,
  })
}

function composeTelemetry(
  foundation: Foundation,
  stores: Stores,
  vals: Vals,
  secrets: SecretOpener,
): Telemetry {
  const { processWaitMsMax, runMsMax, streamMsMax } = foundation.config.runs
  const longestMs = processWaitMsMax + runMsMax + streamMsMax
  return createTelemetry(stores.telemetry, vals, secrets, foundation, longestMs)
}

function composePrograms(
  { onErrorOf }: Foundation,
  { imports, lockfiles, bundles, versionFiles }: Stores,
  { modules, vals, runTokens, links }: RunParts,
  secrets: SecretOpener,
): Programs {
  return createPrograms({
    imports,
    files: versionFiles,
    lockfiles,
    bundles,
    secrets,
    runTokens,
    links,
    versions: vals.versions,
    versionLockfiles: vals.versionLockfiles,
    sources: modules.sources,
    pendingLockfiles: modules.fetching.pendingLockfiles,
    standardScripts: createStandardScripts(),
    onError: onErrorOf("programs"),
  })
}

function createQueue(
  { config, db, nodeId, onErrorOf }: Foundation,
  stores: Stores,
  claimedRuns: ClaimedRuns,
  liveRuns: LiveRuns,
): QueueWorker {
  const { queueRunsMax: runsMax } = config.runs
  const limits = {
    ...queueWorkerLimits,
    runsMax,
    // A quarter for each account, so that long runs of one leave room for others.
    runsPerAccountMax: Math.max(1, Math.ceil(runsMax / 4)),
  }
  const notices = {
    notify: () => db.notify(queueChannel),
    listen: (onNotice: () => void) => db.listen(queueChannel, onNotice),
  }
  const onError = onErrorOf("queue")
  return new QueueWorker(nodeId, stores.queue, claimedRuns, liveRuns, limits, notices, onError)
}

/** Schedules of vals, and the job that starts their runs. */
export function composeSchedules(
  foundation: Foundation,
  stores: Stores,
  vals: Vals,
  queue: { wake(): void },
  runner: Runner,
) {
  const { config, onErrorOf } = foundation
  const scheduleJob = new ScheduleJob(stores.schedules, queue, runner, onErrorOf("schedules"), {
    idleMs: config.runs.idleMsMax,
  })
  const { schedules: limits } = config
  return {
    scheduleJob,
    schedules: createSchedules(stores.schedules, vals, limits, scheduleJob, foundation),
  }
}

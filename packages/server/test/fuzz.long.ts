import { afterAll, beforeAll, expect, test } from "bun:test"
import fc from "fast-check"
import { echoRunner } from "./fuzz/echo-runner.ts"
import { extremes } from "./fuzz/extremes.ts"
import { createFuzzServer, type FuzzServer } from "./fuzz/fuzz-server.ts"
import { anyPlan } from "./fuzz/mutations.ts"
import { operations } from "./fuzz/operations.ts"
import { type Plan, validPlan } from "./fuzz/plan.ts"
import { isFault, send } from "./fuzz/send.ts"
import { printRequest } from "./fuzz/to-request.ts"
import { openApi } from "./support/api.ts"
import { databases, describeEachDatabase } from "./support/databases.ts"
import { testSeed } from "./support/random.ts"

/** A whole run of `npm run long-test -- fuzz` sends more. */
const requestsPerDatabase = 500
/** How many together, for a long run. */
const requestsWanted = process.env.HAMLET_FUZZ_REQUESTS
const isLong = requestsWanted !== undefined
const requests =
  requestsWanted === undefined
    ? requestsPerDatabase
    : Math.ceil(Number(requestsWanted) / databases.length)
const seed = testSeed
// To bun, 0 means no limit.
const timeoutMs = isLong ? 0 : 240_000

/**
 * Only the log shows where a fault of the server is. Every user has a SQLite database, on both
 * databases.
 */
const loud = { HAMLET_LOG_LEVEL: "error", HAMLET_DATA_DIR_SHARED: "yes" }

/**
 * A round of a long run has a fresh server: otherwise it would measure how lists grow. The rounds of
 * a short run end in time also on a busy machine.
 */
const requestsPerRound = isLong ? 25_000 : 500
const rounds = Math.ceil(requests / requestsPerRound)
const extremesParts = 4
/** Requests that are sent at the same time at most, some of them several times. */
const batchMax = 20
/** With fewer requests, chance decides which operations are reached. */
const requestsToReachAll = 5_000
const attemptsToReachOne = 2_000
const attemptsAtOnce = 20

/**
 * What each operation was answered, on all databases together: some can hardly be done by chance
 * once nearly everything is deleted.
 */
const done = new Map<string, Set<number>>()
let sentToAll = 0
let roundsDone = 0

/**
 * Extremes that one server has read before it used the database: refused as invalid, or dropped.
 * They are not sent to the server on the other database.
 */
const invalidExtremes = new Set<string>()
const invalidStatuses: readonly number[] = [400, 413]

describeEachDatabase(`fuzz HAMLET_TEST_SEED=${seed}`, (open) => {
  const create = async () => createFuzzServer(await openApi(open, loud, { runner: echoRunner }))
  /** In a short run, all rounds have one server, and the extremes, which need a fresh one, another. */
  let servers: { readonly ofRounds: FuzzServer | undefined; readonly ofExtremes: FuzzServer }
  beforeAll(async () => {
    servers = { ofRounds: isLong ? undefined : await create(), ofExtremes: await create() }
  }, timeoutMs)
  afterAll(async () => {
    await servers.ofRounds?.api.close()
    await servers.ofExtremes.api.close()
  }, timeoutMs)

  for (let round = 0; round < rounds; round += 1) {
    test(
      `no request causes a 500, an undocumented response or a change of others' data, ${round + 1} of ${rounds}`,
      async () => {
        const server = servers.ofRounds ?? (await create())
        const wanted = Math.min(requests - round * requestsPerRound, requestsPerRound)
        try {
          sentToAll += await fuzz(server, seed + round, wanted, done)
          if (round === rounds - 1) sentToAll += await reachTheRest(server, seed + round, done)
        } finally {
          if (isLong) await server.api.close()
        }
        roundsDone += 1
        if (!isLong || sentToAll < requestsToReachAll || roundsDone < rounds * databases.length)
          return
        const neverDone = operations.filter(({ id }) => !wasDone(done, id))
        expect(neverDone.map(({ id }) => id)).toEqual([])
      },
      timeoutMs,
    )
  }

  const methodsSeen = new Set<string>()
  for (let part = 0; part < extremesParts; part += 1) {
    test(
      `extreme lengths, depths and counts get documented responses, ${part + 1} of ${extremesParts}`,
      async () => {
        const { api, pools, readProtectedState } = servers.ofExtremes
        const before = await readProtectedState()
        const chosen = operations.filter((_, index) => index % extremesParts === part)
        let sent = 0
        for (const { method, path, options, isReadEarly } of extremes(
          api.admin,
          chosen,
          methodsSeen,
          isLong,
        )) {
          const key = `${part} ${sent++}`
          if (invalidExtremes.has(key)) continue
          if (isReadEarly) invalidExtremes.add(key)
          const response = await api.call(method, pools.resolve(path, 0), options)
          if (invalidStatuses.includes(response.status)) invalidExtremes.add(key)
          if (isFault(response))
            expect(
              `${method} ${path} with ${JSON.stringify(options).slice(0, 200)}: ${response.status}`,
            ).toBe("no fault of the server")
        }
        expect(await readProtectedState()).toEqual(before)
      },
      timeoutMs,
    )
  }
})

/** Sends as many requests as are wanted and gives how many they were. */
async function fuzz(
  fuzzServer: FuzzServer,
  seed: number,
  wanted: number,
  done: Map<string, Set<number>>,
): Promise<number> {
  const before = await fuzzServer.readProtectedState()
  let sent = 0
  const batches = fc.array(fc.tuple(anyPlan(), fc.constantFrom(1, 1, 1, 1, 1, 2, 3)), {
    minLength: 1,
    maxLength: batchMax,
    size: "max",
  })
  const property = fc.asyncProperty(batches, async (batch) => {
    const plans = batch.flatMap(([plan, copies]) => Array.from({ length: copies }, () => plan))
    sent += plans.length
    await Promise.all(plans.map(async (plan) => note(done, plan, await send(fuzzServer, plan))))
  })
  for (let part = 0; sent < wanted; part += 1) {
    // In parts of a hundred batches, so that users get new vals after all were deleted.
    const result = await fc.check(property, {
      seed: seed + part * 1000,
      numRuns: Math.min(100, Math.ceil((wanted - sent) / batchMax)),
    })
    if (result.failed)
      throw new Error(explain(fuzzServer, result, result.counterexample?.[0] ?? []))
    await fuzzServer.refill()
    expect(await fuzzServer.readProtectedState()).toEqual(before)
  }
  return sent
}

/**
 * With a table as long as ours, chance leaves out an operation now and then: what was not done by
 * now is tried by itself.
 */
async function reachTheRest(
  fuzzServer: FuzzServer,
  seed: number,
  done: Map<string, Set<number>>,
): Promise<number> {
  let sent = 0
  await fuzzServer.refill()
  for (const operation of operations.filter((one) => !wasDone(done, one.id))) {
    // A few at a time: all of them are generated before the first is sent.
    for (let tried = 0; tried < attemptsToReachOne; tried += attemptsAtOnce) {
      if (wasDone(done, operation.id)) break
      // What it needs may be gone. To fill up takes as long as all attempts for most operations.
      if (tried === attemptsAtOnce) await fuzzServer.refill()
      for (const plan of fc.sample(validPlan(operation), {
        seed: seed + tried,
        numRuns: attemptsAtOnce,
      })) {
        if (wasDone(done, operation.id)) break
        note(done, plan, await send(fuzzServer, plan))
        sent += 1
      }
    }
  }
  return sent
}

/** 501 is as far as a request gets that needs mail or language models, which the server lacks. */
function wasDone(done: Map<string, Set<number>>, id: string): boolean {
  // No guess confirms an address.
  if (id === "confirmEmail") return done.get(id)?.has(422) === true
  // Nothing guesses the name of an organisation, the code of an invitation, or who was invited.
  if (id === "deleteOrganisation") return done.get(id)?.has(400) === true
  if (
    /^(?:acceptMembership|declineMembership|joinOrganisation|removeOrgMember|revokeOrgInvitation)$/.test(
      id,
    )
  )
    return [204, 404, 409].some((status) => done.get(id)?.has(status))
  // The branch that is named is main.
  if (id === "deleteBranch" || id === "mergeBranch") return done.get(id)?.has(409) === true
  // No account is connected to another service.
  if (/^create(?:Slack|GoogleDocs)Token$/.test(id)) return done.get(id)?.has(404) === true
  return [200, 201, 202, 204, 501].some((status) => done.get(id)?.has(status))
}

/** Notes the status of a sound request only: others may have become requests to something else. */
function note(done: Map<string, Set<number>>, plan: Plan, status: number): void {
  if (plan.isValid)
    done.set(plan.operation.id, (done.get(plan.operation.id) ?? new Set()).add(status))
}

/** The smallest failing batch. The seed reproduces it. */
function explain(
  fuzzServer: FuzzServer,
  result: Pick<fc.RunDetails<unknown>, "numRuns" | "numShrinks" | "errorInstance">,
  batch: readonly [Plan, number][],
): string {
  const lines = batch.map(([plan, copies]) => `${copies} × ${printRequest(plan, fuzzServer.pools)}`)
  const title = `HAMLET_TEST_SEED=${seed} fails after ${result.numRuns} batches and ${result.numShrinks} simplifications:`
  return [title, ...lines, String(result.errorInstance)].join("\n")
}

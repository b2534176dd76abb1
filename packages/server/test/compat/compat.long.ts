import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { notRun } from "@hamlet/kit/testing"
import { findRegistry } from "@hamlet/npm"
import { toModule } from "../../../../bench/compat/api-check.ts"
import { apiGroups } from "../../../../bench/compat/api-groups.ts"
import { servers } from "../../../../bench/compat/apis/servers.ts"
import { type Failure, isClear } from "../../../../bench/compat/outcome.ts"
import { type PackageCase, toPackage, toPackages } from "../../../../bench/compat/package-case.ts"
import { combinations, packageTopics } from "../../../../bench/compat/package-cases.ts"
import { type Services, startServices } from "../../../../bench/compat/services/services.ts"
import { canShare } from "../../../../bench/compat/shared-module.ts"
import { ValHost } from "../../../../bench/compat/val-host.ts"
import { describeAttacks } from "../attacks/support/describe-attacks.ts"
import { limitConcurrency } from "../support/limit-concurrency.ts"
import { refusedApis } from "./refused-apis.ts"

const msMax = 600_000
const casesAtOnce = 4
/**
 * Resolving packages takes most of the time, and several in one val take much less. Combinations
 * have programs and native addons, of which a val may have only so many bytes.
 */
const casesPerVal = 12
const combinationsPerVal = 4
const registryMsMax = 30_000

const postgres = process.env.HAMLET_TEST_POSTGRES_URL
/** Programs and native addons take long to unpack on a busy machine, and to load. */
const settings: Record<string, string> = {
  HAMLET_RESOLVE_SECONDS_MAX: "500",
  HAMLET_RUN_SECONDS_MAX: "110",
}
let services: Services | undefined

const isRegistryReachable = await fetch(new URL("-/ping", await findRegistry()), {
  signal: AbortSignal.timeout(registryMsMax),
}).then(
  () => true,
  () => false,
)

beforeAll(async () => {
  services = await startServices(postgres === undefined ? {} : { postgres })
  Object.assign(settings, services.settings)
})
afterAll(() => services?.stop())

describeAttacks("compat", settings, (getServer) => {
  const limit = limitConcurrency(casesAtOnce)
  let created: ValHost | undefined
  const host = () => {
    const { port, ada } = getServer()
    if (!services) throw new Error("Cannot run a case: the services have not started")
    const server = { url: `http://127.0.0.1:${port}`, token: ada.token }
    created ??= new ValHost(server, services.addresses)
    return created
  }

  describePackages({
    run: (useCase) => limit(() => host().runPackage(useCase)),
    runTogether: (cases) => limit(() => host().runTogether(cases)),
  })

  describe.each(apiGroups)("$title", (group) => {
    let failures: Promise<readonly Failure[]> | undefined
    const run = () => {
      failures ??= host().runChecks(toModule(group), group.checks.length)
      return failures
    }
    test.each(group.checks.map(({ name }, index) => [name, index] as const))(
      "%s",
      async (name, index) => expectOutcome(name, (await run())[index]),
      msMax,
    )
  })

  describe("a web server", () => {
    test.each(servers)(
      "$name",
      async ({ name, server }) => expectOutcome(name, await host().runPackage(server)),
      msMax,
    )
  })
})

/** Runs a case in a val of its own, or several in one. */
interface PackageRunner {
  run(useCase: PackageCase): Promise<Failure>
  runTogether(cases: readonly PackageCase[]): Promise<readonly Failure[]>
}

/** Defines a test for each case, if this machine reaches the registry. */
function describePackages({ run, runTogether }: PackageRunner): void {
  if (!isRegistryReachable) {
    notRun("compat: packages", "the npm registry does not respond")
    return
  }
  const together = combinations.cases.filter((one) => one.isInTests)
  const namesTogether = new Set(together.flatMap(toNames))
  const isMissing = ({ needs }: PackageCase) =>
    needs?.includes("postgres") === true && postgres === undefined
  const cases = packageTopics
    .flatMap((topic) => topic.cases)
    // A package that works beside others works alone.
    .filter((one) => one.isInTests && !namesTogether.has(toPackage(one).name))
  for (const missing of cases.filter(isMissing))
    notRun(`compat: ${toPackage(missing).name}`, "PostgreSQL is not installed")
  const found = cases.filter((one) => !isMissing(one))
  for (const alone of found.filter((one) => !canShare(one))) defineCase(alone, () => run(alone))
  for (const group of [
    ...toGroups(together, combinationsPerVal),
    ...toGroups(found.filter(canShare), casesPerVal),
  ]) {
    let failures: Promise<readonly Failure[]> | undefined
    for (const [index, useCase] of group.entries())
      defineCase(useCase, async () => {
        failures ??= runTogether(group)
        return (await failures)[index]
      })
  }
}

const toNames = (useCase: PackageCase) => toPackages(useCase).map(({ name }) => name)

function toGroups<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )
}

function defineCase(useCase: PackageCase, run: () => Promise<Failure>): void {
  const title = `${toNames(useCase).join(", ")} in a val`
  test.concurrent(title, async () => expect(await run()).toBeUndefined(), msMax)
}

/** An API works, or it is refused with a sentence for the author of the val. */
function expectOutcome(name: string, failure: Failure): void {
  const refused = refusedApis[name]
  if (refused === undefined) expect(failure).toBeUndefined()
  else expect(failure ?? "it works").toMatch(refused)
  expect(isClear(failure ?? "")).toBe(true)
}

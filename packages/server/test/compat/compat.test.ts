import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { toModule } from "../../../../bench/compat/api-check.ts"
import { apiGroups } from "../../../../bench/compat/api-groups.ts"
import { servers } from "../../../../bench/compat/apis/servers.ts"
import { type Failure, isClear } from "../../../../bench/compat/outcome.ts"
import { toPackage } from "../../../../bench/compat/package-case.ts"
import { packageTopics } from "../../../../bench/compat/package-cases.ts"
import { type Services, startServices } from "../../../../bench/compat/services/services.ts"
import { ValHost } from "../../../../bench/compat/val-host.ts"
import { findRegistry } from "../../src/runtime/dependencies/find-registry.ts"
import { describeAttacks } from "../attacks/support/describe-attacks.ts"
import { notRun } from "../support/databases.ts"
import { limitConcurrency } from "../support/limit-concurrency.ts"
import { refusedApis } from "./refused-apis.ts"

const msMax = 600_000
const casesAtOnce = 4
const registryMsMax = 30_000

const postgres = process.env.HAMLET_TEST_POSTGRES_URL
const folder = mkdtempSync(join(tmpdir(), "hamlet-compat-"))
const settings: Record<string, string> = {}
let services: Services | undefined

const isRegistryReachable = await fetch(new URL("-/ping", await findRegistry()), {
  signal: AbortSignal.timeout(registryMsMax),
}).then(
  () => true,
  () => false,
)

beforeAll(async () => {
  services = await startServices(folder, postgres === undefined ? {} : { postgres })
  Object.assign(settings, services.settings)
})
afterAll(() => {
  services?.stop()
  rmSync(folder, { recursive: true })
})

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

  describePackages((useCase) => limit(() => host().runPackage(useCase)))

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

/** Defines a test for each package, if this machine reaches the registry. */
function describePackages(
  run: (useCase: (typeof packageTopics)[number]["cases"][number]) => Promise<Failure>,
): void {
  const cases = packageTopics.flatMap((topic) => topic.cases).filter((one) => one.isInTests)
  if (!isRegistryReachable) {
    notRun("compat: packages", "the npm registry does not respond")
    return
  }
  for (const useCase of cases) {
    const { name } = toPackage(useCase)
    if (useCase.needs?.includes("postgres") && postgres === undefined)
      notRun(`compat: ${name}`, "PostgreSQL is not installed")
    else
      test.concurrent(
        `${name} works in a val`,
        async () => expect(await run(useCase)).toBeUndefined(),
        msMax,
      )
  }
}

/** An API works, or it is refused with a sentence for the author of the val. */
function expectOutcome(name: string, failure: Failure): void {
  const refused = refusedApis[name]
  if (refused === undefined) expect(failure).toBeUndefined()
  else expect(failure ?? "it works").toMatch(refused)
  expect(isClear(failure ?? "")).toBe(true)
}

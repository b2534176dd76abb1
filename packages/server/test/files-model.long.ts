import { afterAll, beforeAll, test } from "bun:test"
import { explained, Writer } from "./files-model/writer.ts"
import { openApi, type TestApi, type TestUser } from "./support/api.ts"
import { describeEachDatabase } from "./support/databases.ts"
import { createRandom, testSeed } from "./support/random.ts"

/* `npm run long-test -- files` makes more steps, and kills the server meanwhile. */

const vals = Number(process.env.HAMLET_MODEL_RUNS ?? 4)
const stepsPerVal = 40

describeEachDatabase("files model", (open) => {
  let api: TestApi
  let ada: TestUser
  beforeAll(async () => {
    api = await openApi(open)
    ada = await api.addUser("ada")
  })
  afterAll(() => api.close())

  test(
    `the API keeps ${vals} vals like the model through ${stepsPerVal} random steps each (HAMLET_TEST_SEED=${testSeed})`,
    async () => {
      const random = createRandom(testSeed)
      let words = 0
      const chance = { random, word: () => `zq${++words}zq` }
      const writer = new Writer("val", ada.username, chance, stepsPerVal)
      // Modules are texts for Deno, and JavaScript for other clients.
      const headers = { "user-agent": "Deno/2" }
      const call = (method: string, path: string, body?: unknown) =>
        api.call(method, path, { as: ada, body, headers })
      // A val is compared as a whole when the next one begins.
      while (writer.finishedCount < vals) await explained(writer, () => writer.step(call))
    },
    60_000 + vals * 20_000,
  )
})

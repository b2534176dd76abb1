import { afterAll, beforeAll, test } from "bun:test"
import fc from "fast-check"
import {
  createTokenCommand,
  deleteSecretCommand,
  putSecretCommand,
  revokeTokenCommand,
  useTokenCommand,
} from "./model/account-commands.ts"
import { checkAllGone, checkModel, deleteAllVals } from "./model/check-model.ts"
import type { Command } from "./model/command.ts"
import { createModel, type Model, type ModelToken } from "./model/model.ts"
import {
  getByNameCommand,
  getValCommand,
  listCommand,
  searchCommand,
} from "./model/read-commands.ts"
import { commentCommand, deleteCommentCommand, likeCommand } from "./model/social-commands.ts"
import {
  createValCommand,
  deleteValCommand,
  deleteVersionCommand,
  forkValCommand,
  saveValCommand,
  saveVersionCommand,
  updateValCommand,
} from "./model/val-commands.ts"
import { openApi, type TestApi } from "./support/api.ts"
import { describeEachDatabase } from "./support/databases.ts"
import { testSeed } from "./support/random.ts"

/** A whole run of `npm run long-test -- model` tries many. */
const sequences = Number(process.env.HAMLET_MODEL_RUNS ?? 8)
// A failure names its seed, with which it comes again. The same for both databases: what one
// answers, the other must.
const seed = testSeed
const commandsMax = 90

/** Time for the sequences, and for finding a short one when one of them fails. */
const limits = { sequenceMsMax: 10_000, shrinkMsMax: 60_000 }

const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 8, arbitrary: createValCommand },
  { weight: 5, arbitrary: saveValCommand },
  { weight: 5, arbitrary: forkValCommand },
  { weight: 6, arbitrary: updateValCommand },
  { weight: 9, arbitrary: saveVersionCommand },
  { weight: 4, arbitrary: deleteVersionCommand },
  { weight: 2, arbitrary: deleteValCommand },
  { weight: 8, arbitrary: likeCommand },
  { weight: 5, arbitrary: commentCommand },
  { weight: 3, arbitrary: deleteCommentCommand },
  { weight: 3, arbitrary: getValCommand },
  { weight: 3, arbitrary: getByNameCommand },
  { weight: 8, arbitrary: listCommand },
  { weight: 3, arbitrary: searchCommand },
  { weight: 3, arbitrary: createTokenCommand },
  { weight: 2, arbitrary: useTokenCommand },
  { weight: 2, arbitrary: revokeTokenCommand },
  { weight: 3, arbitrary: putSecretCommand },
  { weight: 1, arbitrary: deleteSecretCommand },
)

describeEachDatabase("model", (open) => {
  let api: TestApi
  let modelCount = 0

  beforeAll(async () => {
    // Otherwise a val that is saved before the val that it imports does not become a reference to it.
    api = await openApi(open, { HAMLET_ESM_TOWN: "local" })
  })
  afterAll(async () => {
    await api.close()
  })

  /** A model with three new users, whose first tokens the server has made. */
  async function openWorld(): Promise<Model> {
    modelCount += 1
    const users = [
      await api.addUser(`Ada${modelCount}`),
      await api.addUser(`bob_${modelCount}`),
      await api.addUser(`CY${modelCount}`),
    ]
    const tokens: ModelToken[] = []
    for (const owner of users) {
      const [first] = (await api.call("GET", "/v1/me/tokens", { as: owner })).json.data
      tokens.push({ ...first, owner, text: owner.token })
    }
    return createModel(users, tokens)
  }

  async function live(commands: Iterable<Command>, model: Model): Promise<void> {
    try {
      await fc.asyncModelRun(() => ({ model: model, real: api }), commands)
      await checkModel(api, model)
    } catch (error) {
      // The next sequence, most likely a shorter one that fails for the same reason, must not find any
      // vals either.
      await deleteAllVals(api, model).catch(() => {})
      throw error
    }
    await deleteAllVals(api, model)
    await checkAllGone(api, model)
  }

  const runMsMax = sequences * limits.sequenceMsMax + limits.shrinkMsMax

  test(
    `the API responds to ${sequences} sequences of requests like the model`,
    async () => {
      const anySequence = fc.commands([anyCommand], { maxCommands: commandsMax, size: "max" })
      const property = fc.asyncProperty(anySequence, async (commands) =>
        live(commands, await openWorld()),
      )
      await fc.assert(property, {
        seed,
        numRuns: sequences,
        interruptAfterTimeLimit: runMsMax,
        markInterruptAsFailure: true,
      })
    },
    runMsMax + limits.shrinkMsMax,
  )
})

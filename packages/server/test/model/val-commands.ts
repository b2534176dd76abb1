import { expect } from "bun:test"
import fc from "fast-check"
import {
  actorOf,
  anyActor,
  anyCode,
  anyFields,
  anyIfMatch,
  anyName,
  anyNewFields,
  anyViewer,
  type IfMatch,
  pickMostly,
  pickVal,
  type SentFields,
  type SymbolicCode,
  slot,
  toFields,
  viewerOf,
  writeCode,
  writeIfMatch,
} from "./arbitraries.ts"
import { checkOutcome, checkRecord } from "./check.ts"
import { type Command, change, command } from "./command.ts"
import { currentOf, findByName, type Model, type ModelVal } from "./model.ts"
import {
  createVal,
  deleteVal,
  deleteVersion,
  forkVal,
  saveVal,
  saveVersion,
  updateVal,
} from "./val-rules.ts"
import { viewVal } from "./views.ts"

interface Answered {
  readonly id: string
  readonly name: string
  readonly createdAt: string
  readonly versionCreatedAt: string
}

export const createValCommand: fc.Arbitrary<Command> = fc
  .record({
    by: anyViewer,
    fields: anyNewFields,
    code: anyCode,
    isNamed: fc.constantFrom(true, true, true, false),
    name: anyName,
  })
  .map(({ by, fields, code, isNamed, name }) => {
    const { name: _name, ...others } = fields
    return createCommand(by, isNamed ? { ...others, name } : others, code)
  })

function createCommand(
  by: number | undefined,
  fields: SentFields,
  symbolic: SymbolicCode,
): Command {
  return command(`create val ${show({ by, fields, symbolic })}`, async (model, api) => {
    const caller = viewerOf(model, by)
    const code = writeCode(model, caller, symbolic)
    const outcome = createVal(model, caller, toFields(fields), code)
    const response = await change(model, () =>
      api.call("POST", "/v1/vals", { as: caller, body: { ...fields, code: code.text } }),
    )
    checkOutcome(response, outcome)
    if (outcome.code === undefined) adopt(model, outcome.value, response.json)
  })
}

export const forkValCommand: fc.Arbitrary<Command> = fc
  .record({
    val: slot,
    by: anyActor,
    version: fc.option(fc.nat({ max: 3 }), { nil: undefined, freq: 3 }),
    name: fc.option(anyName, { nil: undefined }),
    privacy: fc.constantFrom("public", "public", "unlisted", "private", undefined),
  })
  .map(({ val, by, ...fields }) =>
    command(`fork val ${show({ val, by, fields })}`, async (model, api) => {
      const id = pickVal(model, val)
      const caller = actorOf(model, by, id)
      const outcome = forkVal(model, caller, id, fields)
      const response = await change(model, () =>
        api.call("POST", `/v1/vals/${id}/fork`, { as: caller, body: fields }),
      )
      checkOutcome(response, outcome)
      if (outcome.code === undefined) adopt(model, outcome.value, response.json)
    }),
  )

export const saveValCommand: fc.Arbitrary<Command> = fc
  .record({
    by: anyViewer,
    fields: anyNewFields,
    name: anyName,
    code: anyCode,
    ifMatch: anyIfMatch,
  })
  .map(({ by, fields, name, code: symbolic, ifMatch }) =>
    command(`save val ${show({ by, name, fields, symbolic, ifMatch })}`, async (model, api) => {
      const caller = viewerOf(model, by)
      const code = writeCode(model, caller, symbolic)
      const { headers, version } = writeIfMatch(
        ifMatch,
        caller && findByName(model, caller.username, name),
      )
      const body = { ...fields, name, code: code.text }
      const outcome = saveVal(model, caller, { ...toFields(fields), name }, code, version)
      const response = await change(model, () =>
        api.call("PUT", "/v1/vals", { as: caller, headers, body }),
      )
      checkOutcome(response, outcome)
      if (outcome.code === undefined) adopt(model, outcome.value, response.json)
    }),
  )

export const updateValCommand: fc.Arbitrary<Command> = fc
  .record({
    val: slot,
    by: anyActor,
    fields: anyFields.filter((fields) => Object.keys(fields).length > 0),
    ifMatch: anyIfMatch,
  })
  .map(({ val, by, fields, ifMatch }) =>
    command(`update val ${show({ val, by, fields, ifMatch })}`, async (model, api) => {
      const { id, caller, headers, version } = target(model, val, by, ifMatch)
      const outcome = updateVal(model, caller, id, toFields(fields), version)
      checkOutcome(
        await change(model, () =>
          api.call("PUT", `/v1/vals/${id}`, { as: caller, headers, body: fields }),
        ),
        outcome,
      )
      const known = model.vals.find((one) => one.id === id)
      // The answer has no body.
      if (known && currentOf(known).createdAt === "")
        adopt(model, known, (await api.call("GET", `/v1/vals/${id}`, { as: caller })).json)
    }),
  )

export const saveVersionCommand: fc.Arbitrary<Command> = fc
  .record({
    val: slot,
    by: anyActor,
    fields: fc.oneof(
      { weight: 3, arbitrary: fc.constant({}) },
      { weight: 1, arbitrary: anyFields },
    ),
    code: anyCode,
    isSame: fc.constantFrom(false, false, false, true),
    ifMatch: anyIfMatch,
  })
  .map(({ val, by, fields, code: symbolic, isSame, ifMatch }) =>
    command(
      `save version ${show({ val, by, fields, symbolic, isSame, ifMatch })}`,
      async (model, api) => {
        const { id, caller, headers, version } = target(model, val, by, ifMatch)
        const known = model.vals.find((one) => one.id === id)
        const code =
          isSame && known
            ? { ...currentOf(known), text: currentOf(known).code }
            : writeCode(model, known?.owner, symbolic)
        const outcome = saveVersion(model, caller, id, toFields(fields), code, version)
        const body = { ...fields, code: code.text }
        const response = await change(model, () =>
          api.call("POST", `/v1/vals/${id}/versions`, { as: caller, headers, body }),
        )
        checkOutcome(response, outcome)
        if (outcome.code === undefined) adopt(model, outcome.value, response.json)
      },
    ),
  )

export const deleteVersionCommand: fc.Arbitrary<Command> = fc
  .record({ val: slot, by: anyActor, version: slot, ifMatch: anyIfMatch })
  .map(({ val, by, version: versionSlot, ifMatch }) =>
    command(
      `delete version ${show({ val, by, version: versionSlot, ifMatch })}`,
      async (model, api) => {
        const { id, caller, headers, version } = target(model, val, by, ifMatch)
        const known = model.vals.find((one) => one.id === id)
        const now = known?.versions.map((one) => one.version).reverse() ?? []
        const number = pickMostly(
          now,
          Array.from({ length: (known?.versionLast ?? 0) + 2 }, (_, index) => index),
          versionSlot,
        )
        const outcome = deleteVersion(model, caller, id, number, version)
        checkOutcome(
          await change(model, () =>
            api.call("DELETE", `/v1/vals/${id}/versions/${number}`, { as: caller, headers }),
          ),
          outcome,
        )
      },
    ),
  )

export const deleteValCommand: fc.Arbitrary<Command> = fc
  .record({ val: slot, by: anyActor, ifMatch: anyIfMatch })
  .map(({ val, by, ifMatch }) =>
    command(`delete val ${show({ val, by, ifMatch })}`, async (model, api) => {
      const { id, caller, headers, version } = target(model, val, by, ifMatch)
      const outcome = deleteVal(model, caller, id, version)
      checkOutcome(
        await change(model, () => api.call("DELETE", `/v1/vals/${id}`, { as: caller, headers })),
        outcome,
      )
    }),
  )

/** The val that is meant, who acts on it, and what they say of the version they have seen. */
function target(model: Model, val: number, by: Parameters<typeof actorOf>[1], ifMatch: IfMatch) {
  const id = pickVal(model, val)
  const known = model.vals.find((one) => one.id === id)
  return { id, caller: actorOf(model, by, id), ...writeIfMatch(ifMatch, known) }
}

/** Takes over what the server made up, and checks the rest of its answer. */
function adopt(model: Model, val: ModelVal, answered: Answered): void {
  if (val.id === "") {
    if (val.name === "") {
      expect(findByName(model, val.owner.username, answered.name)).toBeUndefined()
      val.name = answered.name
    }
    val.id = answered.id
    val.createdAt = answered.createdAt
    expect(model.valIds).not.toContain(val.id)
    model.valIds.push(val.id)
  }
  const current = currentOf(val)
  if (current.createdAt === "") current.createdAt = answered.versionCreatedAt
  checkRecord(answered, viewVal(model, val.owner, val))
}

function show(details: object): string {
  return JSON.stringify(details)
}

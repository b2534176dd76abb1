import { expect, test } from "bun:test"
import { AppError } from "../../domain/app-error.ts"
import { createLargeSaves } from "./large-saves.ts"

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  )

test("createLargeSaves refuses a third save of a user, eight in all run at once, others wait", async () => {
  const saves = createLargeSaves()
  const end = Promise.withResolvers<void>()
  let running = 0
  const save = (userId: string) =>
    codeOf(
      saves.run(userId, () => {
        running += 1
        return end.promise
      }),
    )
  const users = ["ada", "bob", "carl", "dora", "emil"]
  const all = users.flatMap((user) => [save(user), save(user)])
  expect(await save("ada")).toBe("overloaded")
  expect(running).toBe(8)
  end.resolve()
  expect(await Promise.all(all)).toEqual(all.map(() => "done"))
  expect([running, await save("ada")]).toEqual([10, "done"])
})

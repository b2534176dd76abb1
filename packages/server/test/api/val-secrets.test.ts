import { expect, test } from "bun:test"
import { limits } from "@hamlet/contract"
import { type Cipher, createCipher } from "../../src/domain/secrets/cipher.ts"
import { createSecretOpener } from "../../src/domain/secrets/open-secrets.ts"
import { createValSecrets } from "../../src/domain/secrets/val-secrets.ts"
import { expectStatus, type TestUser } from "../support/api.ts"
import { dumpDatabase } from "./dump.ts"
import { describeApi, refusalOf, type ValView } from "./suite.ts"

describeApi("api/val-secrets", (suite) => {
  const { call, addUser: person, val } = suite
  const put = (as: TestUser, { id }: ValView, name: string, body: object = { value: "v" }) =>
    call("PUT", `/v1/vals/${id}/secrets/${name}`, { as, body })
  const namesIn = async (as: TestUser, { id }: ValView) =>
    expectStatus(await call("GET", `/v1/vals/${id}/secrets`, { as }), 200).json.data.map(
      ({ name }: { name: string }) => name,
    )
  const openerWith = (cipher: Cipher) => {
    const { secrets, valSecrets } = suite.api.hamlet.stores
    return createSecretOpener(secrets, valSecrets, cipher)
  }
  const reseal = (cipher: Cipher, batchMax?: number) => {
    const { nouns, stores } = suite.api.hamlet
    const { vals, runner, clock } = nouns
    return createValSecrets(stores.valSecrets, vals, cipher, runner, clock).reseal(batchMax)
  }
  /** What the val would read. */
  const read = async ({ id, author }: ValView) => {
    const found = await openerWith(suite.api.hamlet.parts.cipher).open({
      id,
      ownerId: author.id ?? "",
    })
    return {
      values: Object.fromEntries(found.values),
      hosted: Object.fromEntries(found.substitutions.map(({ name, value }) => [name, value])),
    }
  }

  test("take the place of the account's secrets of the same name, in this val only", async () => {
    const ada = await person()
    const [one, other] = [await val(ada), await val(ada)]
    for (const [name, value] of Object.entries({ A: "account a", B: "account b" }))
      await call("PUT", `/v1/me/secrets/${name}`, { as: ada, body: { value } })
    const hosts = ["api.hamlet.test"]
    await call("PUT", "/v1/me/secrets/C", { as: ada, body: { value: "account c", hosts } })
    expectStatus(await put(ada, one, "A", { value: "val a" }), 204)
    expectStatus(await put(ada, one, "B", { value: "val b", hosts }), 204)
    expectStatus(await put(ada, one, "C", { value: "val c" }), 204)
    expect(await read(one)).toEqual({ values: { A: "val a", C: "val c" }, hosted: { B: "val b" } })
    expect(await read(other)).toEqual({
      values: { A: "account a", B: "account b" },
      hosted: { C: "account c" },
    })
    for (const name of ["A", "B", "C"])
      expectStatus(await call("DELETE", `/v1/vals/${one.id}/secrets/${name}`, { as: ada }), 204)
    expect(await read(one)).toEqual(await read(other))
  })

  test("are the owner's: others get 403, and 404 for a private val", async () => {
    const [ada, bob] = [await person(), await person()]
    const [shown, hidden] = [await val(ada), await val(ada, { privacy: "private" })]
    for (const [its, refusal] of [
      [shown, [403, "not_owner"]],
      [hidden, [404, "val_not_found"]],
    ] as const) {
      expectStatus(await put(ada, its, "KEY"), 204)
      expect(refusalOf(await put(bob, its, "KEY"))).toEqual(refusal)
      const path = `/v1/vals/${its.id}/secrets`
      expect(refusalOf(await call("GET", path, { as: bob }))).toEqual(refusal)
      expect(refusalOf(await call("DELETE", `${path}/KEY`, { as: bob }))).toEqual(refusal)
      expect(await namesIn(ada, its)).toEqual(["KEY"])
    }
    const missing = "/v1/vals/01890000-0000-7000-8000-000000000000/secrets/KEY"
    const response = await call("PUT", missing, { as: ada, body: { value: "v" } })
    expect(refusalOf(response)).toEqual([404, "val_not_found"])
  })

  test("are not copied by a fork, and are deleted with their val", async () => {
    const [ada, bob] = [await person(), await person()]
    const original = await val(ada)
    await put(ada, original, "KEY")
    for (const as of [ada, bob]) {
      const path = `/v1/vals/${original.id}/fork`
      const fork = expectStatus(await call("POST", path, { as, body: {} }), 201)
      expect(await namesIn(as, fork.json)).toEqual([])
    }
    expectStatus(await call("DELETE", `/v1/vals/${original.id}`, { as: ada }), 204)
    expect(await suite.api.hamlet.stores.valSecrets.listSealed(original.id)).toEqual([])
  })

  test("are deleted with the account that owns the val", async () => {
    const ada = await person()
    const its = await val(ada)
    await put(ada, its, "KEY")
    const path = `/v1/users/${ada.id}?data=keep`
    expectStatus(await call("DELETE", path, { as: suite.api.admin }), 204)
    expect(await suite.api.hamlet.stores.valSecrets.listSealed(its.id)).toEqual([])
  })

  test("are encrypted, for their val and name, and follow a new key", async () => {
    const ada = await person()
    const [its, other] = [await val(ada), await val(ada)]
    await put(ada, its, "KEY", { value: "a value nobody else may read" })
    expect(await dumpDatabase(suite.database)).not.toContain("a value nobody else may read")
    const { stores, parts } = suite.api.hamlet
    const [sealed] = await stores.valSecrets.listSealed(its.id)
    if (!sealed) throw new Error("there is no secret")
    expect(() => parts.cipher.open(sealed.sealed, `val secret:${other.id}:KEY`)).toThrow()
    expect(() => parts.cipher.open(sealed.sealed, `secret:${ada.id}:KEY`)).toThrow()
    const cipher = createCipher([Buffer.alloc(32, 9), Buffer.alloc(32, 7)])
    expect(await reseal(cipher, 2)).toBeGreaterThan(0)
    expect(await stores.valSecrets.listOtherKeys(cipher.keyId, 10)).toEqual([])
    const { values } = await openerWith(cipher).open({ id: its.id, ownerId: ada.id })
    expect(values.get("KEY")).toBe("a value nobody else may read")
    // The secrets are sealed with the former key again, so that the other tests can read theirs.
    await reseal(createCipher([Buffer.alloc(32, 7), Buffer.alloc(32, 9)]))
  })

  test("change the program of the val", async () => {
    const ada = await person()
    const its = await val(ada)
    const { stores } = suite.api.hamlet
    const versionOf = async () => (await stores.vals.findById(its.id))?.ownerSecretsVersion ?? 0
    const before = await versionOf()
    await put(ada, its, "KEY")
    expect(await versionOf()).toBe(before + 1)
    await call("DELETE", `/v1/vals/${its.id}/secrets/KEY`, { as: ada })
    expect(await versionOf()).toBe(before + 2)
    const gone = await call("DELETE", `/v1/vals/${its.id}/secrets/KEY`, { as: ada })
    expect(refusalOf(gone)).toEqual([404, "secret_not_found"])
    expect(await versionOf()).toBe(before + 2)
  })

  test("have a maximum number per val, and can be replaced at it", async () => {
    const ada = await person()
    const its = await val(ada)
    const names = Array.from({ length: limits.secretsPerValMax }, (_, index) => `S${index}`)
    // One after the other: each locks the val, and a request waits for a connection only so long.
    for (const name of names) expectStatus(await put(ada, its, name), 204)
    expect(refusalOf(await put(ada, its, "ONE_MORE"))).toEqual([409, "too_many_secrets"])
    expectStatus(await put(ada, its, "S0", { value: "new" }), 204)
    expect(refusalOf(await put(ada, its, "A%3DB"))).toEqual([400, "invalid_request"])
  })
})

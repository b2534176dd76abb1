import { describe, expect, test } from "bun:test"
import { useStage } from "../support/shared-stage.ts"

const missing = "01890000-0000-7000-8000-000000000000"

describe("webhook", () => {
  const stage = useStage()

  test("add subscribes a URL or a val and prints the secret, list and show do not, rm deletes", async () => {
    const ada = await stage().person("webhooks1")
    await ada.client.saveVal({ name: "hello", code: "1" })
    await ada.client.saveVal({ name: "onSave", code: "export default (event) => event.type" })
    const url = "https://receiver.invalid/hook"
    const added = ["webhook", "add", url, "--event", "run.failed", "val.liked", "--val", "hello"]
    const [, id = "", secret = ""] =
      /^webhook\t(.*)\nsecret\t(.*)\n$/.exec(await ada.print(added)) ?? []
    expect(secret).toStartWith("whsec_")
    const toVal = ["webhook", "add", "onSave", "-e", "val.saved", "--description", "mine"]
    expect(await ada.json(toVal)).toMatchObject([
      { targetVal: { name: "onSave" }, description: "mine" },
    ])

    const list = await ada.print(["webhook", "list"])
    expect(list.split("\n").map((line) => line.split("\t").slice(1))).toEqual([
      ["webhooks1/onSave", "active", "all vals", "val.saved"],
      [url, "active", "hello", "run.failed val.liked"],
      [],
    ])
    expect(list).not.toContain("whsec_")
    expect(await ada.json(["webhook", "show", id])).toMatchObject([{ id, url, status: "active" }])
    expect(await ada.print(["webhook", "pause", id])).toBe(`${id}\n`)
    expect(await ada.json(["webhook", "show", id])).toMatchObject([{ status: "paused" }])
    expect(await ada.json(["webhook", "resume", id])).toMatchObject([{ status: "active" }])
    const rotated = (await ada.print(["webhook", "rotate", id])).trimEnd()
    expect(rotated).toStartWith("whsec_")
    expect(rotated).not.toBe(secret)
    expect(await ada.print(["webhook", "rm", id, "--yes"])).toBe(`${id}\n`)
    expect(await ada.hamlet(["webhook", "show", id])).toMatchObject({
      exit: 4,
      stderr: expect.stringContaining('"hamlet webhook list"'),
    })
  })

  test("test sends a message, deliveries lists it, redeliver sends it again", async () => {
    const ada = await stage().person("webhooks2")
    const url = "https://receiver.invalid/hook"
    const [{ id }] = (await ada.json(["webhook", "add", url, "-e", "val.saved"])) as [
      { id: string },
    ]
    const delivery = (await ada.print(["webhook", "test", id])).trimEnd()
    const [row] = (await ada.print(["webhook", "deliveries", id])).split("\n")
    expect(row?.split("\t").slice(0, 2)).toEqual([delivery, "webhook.test"])
    expect(await ada.print(["webhook", "deliveries", id, "--status", "delivered"])).toBe("")
    expect(await ada.print(["webhook", "redeliver", id, delivery])).toBe(`${delivery}\n`)
    expect(await ada.json(["webhook", "show", id, delivery])).toMatchObject([{ id: delivery }])
    expect((await ada.hamlet(["webhook", "redeliver", id, missing])).exit).toBe(4)
  })

  test("add refuses an unknown event, another scheme and an address that is not allowed", async () => {
    const ada = await stage().person("webhooks3")
    const add = (target: string, event: string) =>
      ada.hamlet(["webhook", "add", target, "--event", event])
    expect((await add("https://example.com/", "val.exploded")).exit).toBe(2)
    expect((await add("ftp://example.com/", "val.saved")).exit).toBe(2)
    expect(await add("http://127.0.0.1:8080/", "val.saved")).toMatchObject({
      stderr: expect.stringContaining("loopback"),
    })
    expect((await add("nothing", "val.saved")).exit).toBe(4)
  })
})

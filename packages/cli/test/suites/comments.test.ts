import { describe, expect, test } from "bun:test"
import { chmodSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { useStage } from "../support/shared-stage.ts"

describe("val comment, usage", () => {
  const stage = useStage()

  test("comment adds a comment from arguments, standard input and an editor, and deletes it", async () => {
    const ada = await stage().person("comments1")
    const grace = await stage().person("comments2")
    await ada.client.createVal({ name: "hello", code: "1", privacy: "public" })
    const first = (
      await grace.print(["val", "comment", "comments1/hello", "That", "is", "neat"])
    ).trim()
    expect(
      await grace.json(["val", "comment", "comments1/hello"], { input: "Two\nlines\n" }),
    ).toMatchObject([{ comment: "Two\nlines", author: { username: "comments2" } }])
    const editor = join(grace.folder, "editor.sh")
    writeFileSync(editor, '#!/bin/sh\necho "From an editor" > "$1"\n')
    chmodSync(editor, 0o755)
    await using edited = grace.atTerminal(["val", "comment", "comments1/hello"], {
      env: { EDITOR: editor },
    })
    expect(await edited.ended()).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining("Commented on comments1/hello"),
    })
    expect(readdirSync(join(grace.folder, "..", "tmp"))).toEqual([])

    const lines = (await ada.print(["val", "comments", "hello"])).trimEnd().split("\n")
    expect(lines.map((line) => line.split("\t").slice(-1))).toEqual([
      ["From an editor"],
      ["Two lines"],
      ["That is neat"],
    ])
    expect(await ada.json(["val", "comments", "hello", "--limit", "1"])).toMatchObject([
      { comment: "From an editor" },
    ])

    // Whose val it is may delete what others say about it.
    expect(await ada.print(["val", "comment", "hello", "--undo", first])).toBe(`${first}\n`)
    expect(await ada.hamlet(["val", "comment", "hello", "--undo", first])).toMatchObject({
      exit: 4,
      stderr: expect.stringContaining('"hamlet val comments"'),
    })
    expect(await ada.json(["val", "comments", "hello"])).toHaveLength(2)
  })

  test("comment refuses an empty text, and invisible vals", async () => {
    const ada = await stage().person("comments3")
    const grace = await stage().person("comments4")
    await ada.client.createVal({ name: "mine", code: "1", privacy: "private" })
    for (const input of ["", " \n"])
      expect((await ada.hamlet(["val", "comment", "mine"], { input })).exit).toBe(2)
    expect((await grace.hamlet(["val", "comments", "comments3/mine"])).exit).toBe(4)
    expect((await grace.hamlet(["val", "comment", "comments3/mine", "hello"])).exit).toBe(4)
    await using seen = ada.atTerminal(["val", "comments", "mine"])
    expect((await seen.ended()).stdout).toContain(
      'No comments; write one with "hamlet val comment"',
    )
  })

  test("usage shows usage and limits", async () => {
    const ada = await stage().person("usage1")
    await ada.client.putBlob({ key: "a", content: "x".repeat(1000) })
    const lines = (await ada.print(["usage"])).trimEnd().split("\n")
    expect(lines.map((line) => line.split("\t")[0])).toEqual([
      "runs per minute",
      "concurrent runs",
      "outgoing bytes per minute",
      "storage requests per minute",
      "code",
      "blobs",
      "database",
      "emails per day",
    ])
    expect(lines[5]).toBe("blobs\t1000\t1073741824\t0")
    expect(await ada.json(["usage"])).toMatchObject([{ blobs: { count: 1, bytes: 1000 } }])
    await using seen = ada.atTerminal(["usage"])
    expect(Bun.stripANSI((await seen.ended()).stdout)).toMatch(
      /\nruns per minute +0 +unlimited\r\n[\s\S]+\nblobs +1\.0 kB +1\.1 GB +0%/,
    )
  })
})

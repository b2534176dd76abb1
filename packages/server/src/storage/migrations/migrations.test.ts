import { expect, test } from "bun:test"
import { postgresDdl, sqliteDdl } from "@hamlet/database"
import { previousRelease, readChangelog } from "../../../test/support/processes/previous-release.ts"
import { migrations } from "./index.ts"

/** The SHA-256 of the statements that each migration landed with. A new one adds its row. */
const landed = {
  "40 base": {
    sqlite: "c13557ec20ffbf59e65c9836bf0b88eea8ca38e263bcc3ddc8352791deef206b",
    postgres: "0598f4e49b26f14b2c4c986ab36a5f382191f63c122b84db080c415737a02b5e",
  },
  "41 node-reports": {
    postgres: "5a972b0967946f2c859a881885933277b23377fcaba2d6c908268561873612ad",
    sqlite: "c38947428c0b98368cd36a1a3a0510cd09154d88b39844bf06ebb2a06896fdab",
  },
  "42 budgets": {
    sqlite: "362a5d3fe33ea96a57ae6cb1442ba79a22ff1891c02f6be2927369ce40ffa845",
    postgres: "a2a42e7ff862f3592009f1bd95d23d890039f183d0c4e5e68edf84b2b8fda3c4",
  },
  "43 run-partitions": {
    sqlite: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    postgres: "38cbd92967a57f4528bcf78f1ba17560ba1a7a86154b6388baf531fbf3dfcc2e",
  },
  "44 addresses": {
    sqlite: "b019b878736d449da04f5e4b74644521daf27e83b58154d09692b2fa50a2c3d4",
    postgres: "6062e5a093d1fad0bac8eb83c37cf4ef50fc19e75c859be39ad7fe4a373dc6f0",
  },
  "45 organisations": {
    sqlite: "0cc76770e20192db64aa75a536d51611642b6fd989c7c29d71a805468e9c280b",
    postgres: "d585f2baf44fd60a640e3561b429f9954ef60c93ae258ea6484336cc4a07882b",
  },
}

test("migrations have the statements that they landed with", () => {
  const hash = (statements: readonly string[]) =>
    new Bun.CryptoHasher("sha256").update(statements.join(";\n")).digest("hex")

  const hashes = migrations.map(({ version, name, statements }) => [
    `${version} ${name}`,
    { sqlite: hash(statements(sqliteDdl)), postgres: hash(statements(postgresDdl)) },
  ])

  expect(Object.fromEntries(hashes)).toEqual(landed)
})

/** The newest schema of each release that later ones run beside. */
const schemas: Readonly<Record<string, number>> = { "0.2.0": 40 }

/**
 * Migrations before which all nodes of the release before have to stop, by their number, and why.
 * CHANGELOG.md has the same sentence.
 */
const stopping: Readonly<Record<number, string>> = {}

test("migrations declare that they work with the release before, or why not", () => {
  const changelog = readChangelog().replace(/\s+/g, " ")
  const problems = migrations.flatMap(({ version, worksWith }) => {
    const before = Math.max(0, ...Object.values(schemas).filter((schema) => schema < version))
    const reason = stopping[version]
    if (before === 0 || (worksWith !== undefined && worksWith <= before)) return []
    if (reason === undefined)
      return `migration ${version}: worksWith is ${worksWith}, and nodes of the release before know schema ${before}`
    return changelog.includes(reason) ? [] : `CHANGELOG.md does not say: ${reason}`
  })

  expect(problems).toEqual([])
})

test("the release before has its schema in this table", () => {
  expect(Object.keys(schemas)).toContain(previousRelease().version)
})

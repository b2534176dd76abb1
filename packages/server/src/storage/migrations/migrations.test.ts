import { expect, test } from "bun:test"
import { previousRelease, readChangelog } from "../../../test/support/processes/previous-release.ts"
import { postgresDdl, sqliteDdl } from "../database/ddl.ts"
import { migrations } from "./index.ts"

/** The SHA-256 of the statements that each migration landed with. A new one adds its row. */
const landed = {
  "26 base": {
    sqlite: "ffd28dc672ef00b9154900e3f2d5b09f878375a3765d7df4457d257f764fcf5e",
    postgres: "19108104668b0cb2fe40a74e82177454d425946cccebcef51390d6402f8d73b0",
  },
  "27 message-claims": {
    sqlite: "9b0db6e90af2034491a0d2ecbe232dad91dc2ddbad34359924e9356c8f1458d0",
    postgres: "be55ea145379e0e9d50da7c96caf945b18158c56bebfa2e32825994ec8693e05",
  },
  "28 lockfile-owners": {
    sqlite: "7a69da0a0adbf35a1649c95ef6d0582e91655a35c903ab07ec3e115757e2038b",
    postgres: "5dc5820dc189eaf5c9d20b692fa3218fe983ad5af2274b1c738b27332d8f2c87",
  },
  "29 lockfile-claims": {
    sqlite: "7651c1d78d6825312c4171a4816793596d93969109016443cf06775c986aa22e",
    postgres: "6d5db68d3a2de94e5d2c32c17de902eaf62f0d7c5d9efd4d0098a62836cf8a3e",
  },
  "30 file-tables": {
    sqlite: "62d4ce062c2e9f752e884ccab4003054ae9013d6a32e898348e86c5389bc0d21",
    postgres: "381ba71a8b54a1ad802738246fb9bb524e27f0f195d0daba1d1ce42b441b29cc",
  },
  "31 files": {
    sqlite: "55f71a10ff1f999d28ff908609c1ff73e8fbfbfc87ae826bc6adf8a748d93f10",
    postgres: "55f71a10ff1f999d28ff908609c1ff73e8fbfbfc87ae826bc6adf8a748d93f10",
  },
  "32 descriptions": {
    sqlite: "3360df932ea1603e3761f7712c6fe5f95db4eede23681496a7aaa15e99b278f0",
    postgres: "fb7df2a70c7ab71e39841a5cb01f163845a25c08b01aa2959ad9588ff4b8dad5",
  },
  "33 secret-descriptions": {
    sqlite: "1939d4663dc35afad17271b501ebb8342f46f369f79c2a94cdc9f8657560e3f2",
    postgres: "1d2b0f2aea0ece805cac85965c493af35145f222b5e768491b53fb87f5627449",
  },
  "34 run-files": {
    sqlite: "f2d71da4927eea2036b0a5727f484457c42f8d0b0075c2654da53c3735dc81d7",
    postgres: "ece0518521b355d6b7444357a530ce631467c8c7640d6f9ad692b21b6e8bf2de",
  },
  "35 oauth-devices": {
    sqlite: "f25af0844033e43c0ab362e1c974b184310dde756aa4253436e6d2ba0f292ee7",
    postgres: "78b75decb0ac08cd3ada12b597893054ff98b926a5eff6ee818215db5befe960",
  },
  "36 schedule-files": {
    sqlite: "9d62f0d533642c5c6a037f1b5e167159f8f4a936b8e14c987e26b5f76479ee46",
    postgres: "2046ced9858dc4a084dc249c2955408f40f891d890fcba720a0638040999454f",
  },
  "37 val-storage": {
    sqlite: "19e9cc10ffc796195efadcbf003e74aafd96d5fe857235179998f9d917d0d83c",
    postgres: "372dbde701774ca9abdd6d7ff5ad1d4a03702bd46e37739391ff81a3ab472916",
  },
  "38 searched-files": {
    sqlite: "97aad43f24016d376e651cf55bee1e692e7119590422e667721b2e5777dd6c27",
    postgres: "7397b67874a54f0868df6a2a7b1a1c2a9aad51d32c9863c65f55bb68a600349a",
  },
  "39 merges": {
    sqlite: "a543270a3af721fd37c29bb72b3c88624e727d2d7926a5e909dd8c7111adc425",
    postgres: "b34681f1284d9b37046844ea3e7c5d8b0ae2d69439555da857f742d79e961089",
  },
  "40 pictures": {
    sqlite: "795ff2323ca5305067787d1028e4fb977b184eaf3cee04257fcfc42fe58e43c3",
    postgres: "bdfe43b3ba00e9f632eada01d9f9c528e1caa7abd2720d8425b997162c4b10ed",
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

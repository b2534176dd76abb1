import { expect, test } from "bun:test"
import { postgresDdl, sqliteDdl } from "../database/ddl.ts"
import { migrations } from "./index.ts"

/** The SHA-256 of the statements that each migration landed with. A new one adds its row. */
const landed = {
  "28 base": {
    sqlite: "82b330010903520c44b23fbb50576b42d4c7605fbc3799b3da7957290b6bcb16",
    postgres: "4f715b18823a90e07485d51a8b6bca8be23f0f90397948a82dcf179455dbddae",
  },
  "29 lockfile-claims": {
    sqlite: "7651c1d78d6825312c4171a4816793596d93969109016443cf06775c986aa22e",
    postgres: "6d5db68d3a2de94e5d2c32c17de902eaf62f0d7c5d9efd4d0098a62836cf8a3e",
  },
  "30 file-tables": {
    sqlite: "84b4a21a86b67688233fe878299f2bf208bb2d69e04bf9085f3b7c07bb027625",
    postgres: "504f10a790f344b22bda4494a84acbaa26b0ac6254310dbaa79cc3531aebd64b",
  },
  "31 files": {
    sqlite: "55f71a10ff1f999d28ff908609c1ff73e8fbfbfc87ae826bc6adf8a748d93f10",
    postgres: "55f71a10ff1f999d28ff908609c1ff73e8fbfbfc87ae826bc6adf8a748d93f10",
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

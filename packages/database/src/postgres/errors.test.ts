import { describe, expect, test } from "bun:test"
import { SQL } from "bun"
import { LockTimeout } from "../errors.ts"
import { fromPostgresError } from "./errors.ts"

const toError = (code: string, errno?: string) => {
  const error = new SQL.PostgresError("It failed", { code, detail: "", hint: "", severity: "" })
  return Object.assign(error, errno === undefined ? {} : { errno })
}
const fromState = (state: string) => fromPostgresError(toError("ERR_POSTGRES_SERVER_ERROR", state))
const unavailable = { code: "database_unavailable" }

describe("fromPostgresError", () => {
  const states = [
    "08000",
    "08006",
    "08P01",
    "0B000",
    "0P000",
    "25006",
    "25P03",
    "25P04",
    "28000",
    "28P01",
    "3D000",
    "40001",
    "40P01",
    "42501",
    "53100",
    "53300",
    "53400",
    "55000",
    "55006",
    "57014",
    "57P01",
    "57P02",
    "57P03",
    "57P04",
    "57P05",
    "58000",
    "58030",
    "58P01",
    "72000",
    "F0000",
    "HV000",
    "XX000",
    "XX001",
    "XX002",
    "ZZ999",
  ]
  test.each(states)("makes the state %s unavailable", (state) => {
    expect(fromState(state)).toMatchObject(unavailable)
  })

  const codes = [
    "CONNECTION_CLOSED",
    "CONNECTION_FAILED",
    "CONNECTION_REFUSED",
    "CONNECTION_TIMEOUT",
    "AUTHENTICATION_FAILED_PBKDF",
    "EXPECTED_REQUEST",
    "IDLE_TIMEOUT",
    "INVALID_MESSAGE",
    "INVALID_SERVER_SIGNATURE",
    "TLS_NOT_AVAILABLE",
    "TLS_UPGRADE_FAILED",
    "UNEXPECTED_MESSAGE",
    "UNKNOWN_AUTHENTICATION_METHOD",
    "SASL_SIGNATURE_MISMATCH",
  ]
  test.each(codes)("makes %s of Bun unavailable", (code) => {
    expect(fromPostgresError(toError(`ERR_POSTGRES_${code}`))).toMatchObject(unavailable)
  })

  test.each(["42601", "42P01", "22021", "22P02", "54000", "0A000", "25P02", "P0001"])(
    "leaves the state %s a bug",
    (state) => {
      expect(fromState(state)).toBeInstanceOf(SQL.PostgresError)
    },
  )

  test.each(["SYNTAX_ERROR", "TOO_MANY_PARAMETERS", "INVALID_BYTE_SEQUENCE"])(
    "leaves %s of Bun a bug",
    (code) => {
      expect(fromPostgresError(toError(`ERR_POSTGRES_${code}`))).toBeInstanceOf(SQL.PostgresError)
    },
  )

  test("makes violations of constraints their kind, and time-outs of locks their own error", () => {
    expect(fromState("23505")).toMatchObject({ kind: "unique" })
    expect(fromState("55P03")).toBeInstanceOf(LockTimeout)
  })
})

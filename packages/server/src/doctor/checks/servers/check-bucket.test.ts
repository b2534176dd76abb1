import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { FakeBucket } from "../../../../test/support/fakes/fake-bucket.ts"
import { loadConfig } from "../../../config/config.ts"
import { checkBucket } from "./check-bucket.ts"

// Bun tries again before it reports an error.
setDefaultTimeout(60_000)

const look = async (url?: string) => {
  const findings = await checkBucket(
    loadConfig(url === undefined ? {} : { HAMLET_S3_URL: url }, []),
  )
  return findings.map(({ status, found, mend }) => [status, found, mend])
}

describe("checkBucket", () => {
  let bucket: FakeBucket
  beforeEach(() => {
    bucket = new FakeBucket()
  })
  afterEach(() => bucket.stop())
  const place = () => `"hamlet" at ${new URL(bucket.bucket.endpoint ?? "").host}`
  const refuse = (status: number, code: string, methods: string) => {
    const text = `<Error><Code>${code}</Code><Message>hunter2</Message></Error>`
    bucket.fault = ({ method }) =>
      methods.includes(method) ? new Response(text, { status }) : undefined
  }

  test("needs no bucket", async () => {
    expect(await look()).toEqual([["ok", "none: large blobs are in the database", null]])
  })

  test("stores a small object, reads it and deletes it", async () => {
    expect(await look(bucket.url)).toEqual([
      ["ok", `${place()} stores, returns and deletes objects`, null],
    ])
    expect(bucket.requests.map(({ method }) => method)).toEqual(["PUT", "GET", "DELETE"])
    expect(bucket.requests[0]?.path).toStartWith("/hamlet/blobs/doctor-")
    expect(bucket.files.size).toBe(0)
  })

  test.each([
    [404, "NoSuchBucket", "create the bucket, or correct its name in HAMLET_S3_URL"],
    [403, "InvalidAccessKeyId", "correct the key, the secret and the region in HAMLET_S3_URL"],
    [403, "SignatureDoesNotMatch", "correct the key, the secret and the region in HAMLET_S3_URL"],
    [403, "AccessDenied", "allow the key s3:PutObject on blobs/* in the bucket"],
    [507, "Full", "look into the log of the service, and correct HAMLET_S3_URL"],
  ])("names the reason of a refusal: %i %s", async (status, code, mend) => {
    refuse(status, code, "PUT POST")
    expect(await look(bucket.url)).toEqual([
      ["failure", `the bucket ${place()} did not store an object: ${code}`, mend],
    ])
  })

  test("deletes what it could not read, and says what it could not delete", async () => {
    refuse(403, "AccessDenied", "GET")
    expect(await look(bucket.url)).toEqual([
      [
        "failure",
        `the bucket ${place()} did not return an object: AccessDenied`,
        "allow the key s3:GetObject on blobs/* in the bucket",
      ],
    ])
    expect(bucket.files.size).toBe(0)
    refuse(403, "AccessDenied", "DELETE")
    const [[, found, mend] = []] = await look(bucket.url)
    expect(found).toMatch(/ did not delete an object: AccessDenied; the object blobs\/\S+ is left$/)
    expect(mend).toBe("allow the key s3:DeleteObject on blobs/* in the bucket")
  })

  test("deletes what may have been stored after it had stopped waiting", async () => {
    const { promise: isStored, resolve: store } = Promise.withResolvers<undefined>()
    bucket.fault = ({ method }) => {
      if (method === "PUT") return isStored
      store(undefined)
      return Bun.sleep(100).then(() => undefined)
    }
    const [[status, found] = [], ...others] = await look(bucket.url)
    expect([status, others]).toEqual(["failure", []])
    expect(found).toMatch(/ no answer within 5 s; the object blobs\/doctor-\S+ is perhaps left$/)
    expect(bucket.requests.map(({ method }) => method)).toEqual(["PUT", "DELETE"])
    expect(bucket.files.size).toBe(0)
  })

  test("notices a bucket that returns something else", async () => {
    bucket.fault = ({ method }) =>
      method === "GET" ? new Response("hamlet doctot", { status: 206 }) : undefined
    const [[, found] = []] = await look(bucket.url)
    expect(found).toBe(`the bucket ${place()} did not return an object: other bytes came back`)
  })

  test("does not wait for a bucket that is silent, or not there", async () => {
    const mend = "correct the endpoint in HAMLET_S3_URL, or start the service"
    bucket.fault = () => new Promise(() => {})
    const reason = `the bucket ${place()} did not store an object: no answer within 5 s; `
    expect(await look(bucket.url)).toEqual([["failure", expect.stringContaining(reason), mend]])
    const nowhere = "s3://key:hunter2@hamlet?endpoint=http://127.0.0.1:1"
    const [[status, found, how] = []] = await look(nowhere)
    expect([status, how]).toEqual(["failure", mend])
    expect(found).toStartWith('the bucket "hamlet" at 127.0.0.1:1 did not store an object: ')
    expect(found).not.toContain("hunter2")
  })
})

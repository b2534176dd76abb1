import { afterEach, describe, expect, test } from "bun:test"
import { WorkerPool, WorkerPoolError, type WorkerPoolOptions } from "./worker-pool.ts"

type Job =
  | { readonly say: string; readonly wait?: true; readonly release?: true }
  | { readonly fail: string }
  | { readonly spin: true }
  | { readonly exit: true }

let pool: WorkerPool<Job, string>

function open(options: Partial<WorkerPoolOptions> = {}): WorkerPool<Job, string> {
  const script = new URL("./testing/echo-thread.ts", import.meta.url)
  pool = new WorkerPool({ script, workersMax: 1, waitingMax: 8, jobMsMax: 60_000, ...options })
  return pool
}

const reasonOf = (job: Promise<unknown>) =>
  job.then(
    () => "done",
    (error: unknown) => (error instanceof WorkerPoolError ? error.reason : String(error)),
  )

afterEach(() => pool.stop())

describe("WorkerPool", () => {
  test("runs jobs on a thread, and forwards results and errors", async () => {
    open()
    expect(await pool.run("ada", { say: "hello" })).toBe("hello")
    const failure = await pool.run("ada", { fail: "no luck" }).catch((error: unknown) => error)
    expect(failure).toMatchObject({ reason: "failed", message: "no luck" })
    expect(await pool.run("ada", { say: "again" })).toBe("again")
  })

  test("run alternates between keys", async () => {
    open()
    const order: string[] = []
    const run = (key: string, say: string) =>
      pool.run(key, { say }).then((said) => void order.push(said))
    await Promise.all([
      run("ada", "a1"),
      run("ada", "a2"),
      run("ada", "a3"),
      run("bob", "b1"),
      run("cem", "c1"),
    ])
    expect(order).toEqual(["a1", "a2", "b1", "c1", "a3"])
  })

  test("run refuses a job when the queue of its key or of all keys is full", async () => {
    open()
    const first = pool.run("ada", { say: "x" })
    const more = Array.from({ length: 4 }, () => reasonOf(pool.run("ada", { say: "x" })))
    expect(await Promise.all(more)).toEqual(["done", "done", "overloaded", "overloaded"])
    await first
  })

  test("replaces a thread whose job takes too long or that ends by itself", async () => {
    open({ jobMsMax: 200 })
    expect(await reasonOf(pool.run("ada", { spin: true }))).toBe("timed_out")
    await pool.stop()
    open()
    expect(await reasonOf(pool.run("ada", { exit: true }))).toBe("failed")
    expect(await pool.run("ada", { say: "still here" })).toBe("still here")
  })

  test("runs several jobs on a thread while they wait, if it is told to", async () => {
    open({ jobsPerWorkerMax: 3 })
    const waiting = [
      pool.run("ada", { say: "a", wait: true }),
      pool.run("bob", { say: "b", wait: true }),
    ]
    expect(await pool.run("cem", { say: "c", release: true })).toBe("c")
    expect(await Promise.all(waiting)).toEqual(["a", "b"])
  })

  test("a job that takes too long fails its neighbours, and none of them is to blame", async () => {
    open({ jobsPerWorkerMax: 2, jobMsMax: 200 })
    const jobs = [
      reasonOf(pool.run("ada", { say: "a", wait: true })),
      reasonOf(pool.run("bob", { spin: true })),
    ]
    expect(await Promise.all(jobs)).toEqual(["overloaded", "overloaded"])
  })

  test("stop ends running and waiting jobs", async () => {
    open()
    const jobs = [
      reasonOf(pool.run("ada", { spin: true })),
      reasonOf(pool.run("bob", { say: "x" })),
    ]
    await pool.stop()
    expect(await Promise.all(jobs)).toEqual(["failed", "failed"])
    expect(await reasonOf(pool.run("ada", { say: "x" }))).toBe("failed")
  })
})

import { Counter, Gauge, Histogram, Registry } from "prom-client"

/** What `/metrics` shows. */
export interface Metrics {
  observe(route: string, method: string, status: number, seconds: number): void
  print(): Promise<string>
}

const latencyBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

/** Counts requests by route, never by path: a path holds ids, and there is no end of those. */
export function createMetrics(databaseStats: () => { connections: number; inUse: number; waiting: number }): Metrics {
  const registers = [new Registry()]
  const requests = new Counter({ name: "hamlet_http_requests_total", help: "Requests answered", labelNames: ["route", "method", "status"], registers })
  const latency = new Histogram({
    name: "hamlet_http_request_duration_seconds",
    help: "Time from the arrival of a request to its answer",
    labelNames: ["route"],
    buckets: latencyBuckets,
    registers,
  })
  new Gauge({
    name: "hamlet_database_connections",
    help: "Connections of the database pool by state; waiting are callers without one",
    labelNames: ["state"],
    registers,
    collect() {
      const { connections, inUse, waiting } = databaseStats()
      this.set({ state: "open" }, connections)
      this.set({ state: "in_use" }, inUse)
      this.set({ state: "waiting" }, waiting)
    },
  })
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory of the server",
    registers,
    collect() {
      this.set(process.memoryUsage.rss())
    },
  })
  return {
    observe(route, method, status, seconds) {
      requests.inc({ route, method, status })
      latency.observe({ route }, seconds)
    },
    print: () => registers[0]?.metrics() ?? Promise.resolve(""),
  }
}

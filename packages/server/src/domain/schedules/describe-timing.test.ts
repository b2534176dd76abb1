import { expect, test } from "bun:test"
import { describeTiming } from "./describe-timing.ts"

test.each([
  ["0 9 * * 1-5", "every weekday at 09:00 in Europe/Berlin"],
  ["0 9 * * MON-FRI", "every weekday at 09:00 in Europe/Berlin"],
  ["30 7 * * *", "every day at 07:30 in Europe/Berlin"],
  ["30 7 * * 0-6", "every day at 07:30 in Europe/Berlin"],
  ["15 30 7 * * *", "every day at 07:30:15 in Europe/Berlin"],
  ["0 9 * * mon", "every Monday at 09:00 in Europe/Berlin"],
  ["0 9 * * 0,6", "every Saturday and Sunday at 09:00 in Europe/Berlin"],
  ["0 9 * * 7", "every Sunday at 09:00 in Europe/Berlin"],
  ["0 9 * * 1,3,5", "every Monday, Wednesday and Friday at 09:00 in Europe/Berlin"],
  ["*/15 * * * *", "every 15 minutes in Europe/Berlin"],
  ["*/10 * * * * *", "every 10 seconds in Europe/Berlin"],
  ["* * * * *", "every minute in Europe/Berlin"],
  ["@hourly", "every hour in Europe/Berlin"],
  ["@daily", "at 00:00 in Europe/Berlin"],
  ["0 9,17 * * MON-FRI", "at 09:00 and 17:00, Monday through Friday in Europe/Berlin"],
  ["0 0 L * *", "at 00:00, on the last day of the month in Europe/Berlin"],
  ["0 0 * * 5#L", "at 00:00, on the last Friday of the month in Europe/Berlin"],
  ["0 0 * * MON#2", "at 00:00, on the second Monday of the month in Europe/Berlin"],
  ["0 0 15W * *", "at 00:00, on the weekday nearest day 15 of the month in Europe/Berlin"],
  ["0 20 1 * MON", "at 20:00, on day 1 of the month, and on Monday in Europe/Berlin"],
])("describeTiming says what %s means", (cron, words) => {
  expect(describeTiming({ cron, every: null, timeZone: "Europe/Berlin" })).toBe(words)
})

test("describeTiming says that both days must match after a plus sign", () => {
  const words = describeTiming({ cron: "0 12 1 * +MON", every: null, timeZone: "UTC" })
  expect(words).toBe("at 12:00, on day 1 of the month, only on Monday in UTC")
})

test("describeTiming does not call a step equal that the hour interrupts", () => {
  const words = describeTiming({ cron: "*/45 * * * *", every: null, timeZone: "UTC" })
  expect(words).toBe("at 0 and 45 minutes past the hour in UTC")
})

test("describeTiming quotes an expression that it has no words for", () => {
  const words = describeTiming({ cron: "0 0 * * 5-6#L", every: null, timeZone: "UTC" })
  expect(words).toBe('at the times of "0 0 * * 5-6#L" in UTC')
})

test.each([
  ["15m", "every 15 minutes"],
  ["1h", "every hour"],
  ["1d", "every 1 day"],
  ["90m", "every 1 hour and 30 minutes"],
  ["2w", "every 14 days"],
  ["30s", "every 30 seconds"],
])("describeTiming says what every %s means", (every, words) => {
  expect(describeTiming({ cron: null, every, timeZone: "UTC" })).toBe(words)
})

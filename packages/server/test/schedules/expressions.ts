import { createRandom } from "../support/random.ts"

const months = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
const days = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]

/** Cron expressions of all kinds that other libraries read too, the same for the same seed. */
export function createExpressions(count: number, seed: number): readonly string[] {
  const random = createRandom(seed)
  const below = (max: number) => Math.floor(random() * max)
  const pick = <T>(items: readonly T[]) => items[below(items.length)] as T

  const list = (min: number, max: number, length: number) => {
    const values = new Set(Array.from({ length }, () => min + below(max - min + 1)))
    return [...values].sort((left, right) => left - right).join(",")
  }
  const range = (min: number, max: number) => {
    const from = min + below(max - min)
    return `${from}-${from + 1 + below(max - from)}`
  }
  const field = (min: number, max: number, starShare: number) => {
    if (random() < starShare) return "*"
    return pick([
      () => String(min + below(max - min + 1)),
      () => list(min, max, 3),
      () => range(min, max),
      () => `${range(min, max)}/${1 + below(4)}`,
      () => `*/${2 + below(Math.floor((max - min) / 2))}`,
    ])()
  }
  const weekday = () =>
    pick([
      () => String(below(7)),
      () => pick(days),
      () => "MON-FRI",
      () => "1,3,5",
      () => `${below(7)}L`,
      () => `${below(7)}#${1 + below(4)}`,
      () => "SUN",
    ])()
  const monthDay = () => pick([() => "L", () => list(1, 28, 2), () => range(1, 28), () => "1"])()
  const month = () => pick([() => pick(months), () => "3-4", () => "10,11", () => "*/2"])()

  return Array.from({ length: count }, () => {
    const isDaily = random() < 0.4
    const time = isDaily
      ? [String(below(60)), String(below(5))]
      : [field(0, 59, 0.2), field(0, 23, 0.5)]
    const dayKind = random()
    const dates = [
      dayKind < 0.1 || dayKind > 0.9 ? monthDay() : "*",
      random() < 0.1 ? month() : "*",
      dayKind > 0.7 ? weekday() : "*",
    ]
    const seconds = random() < 0.2 ? [pick(["0", "30", "*/15", "*"])] : []
    return [...seconds, ...time, ...dates].join(" ")
  })
}

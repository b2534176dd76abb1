import { TimeAgo } from "../parts/time-ago.tsx"

/** The next times of a schedule, in its time zone. */
export function NextTimes({ times, timeZone }: { times: readonly string[]; timeZone: string }) {
  const day = new Intl.DateTimeFormat("en", {
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    timeZone,
  })
  const hasSeconds = times.some((at) => new Date(at).getUTCSeconds() !== 0)
  const clock = new Intl.DateTimeFormat("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    ...(hasSeconds ? { second: "2-digit" as const } : {}),
    // Shows when the clocks change.
    timeZoneName: "short",
    timeZone,
  })
  return (
    <ol class="next-times">
      {times.map((at) => (
        <li key={at}>
          <span class="next-time">{clock.format(new Date(at))}</span>
          <span>{day.format(new Date(at))}</span>
          <span class="quiet">
            <TimeAgo at={at} />
          </span>
        </li>
      ))}
    </ol>
  )
}

// What /statusz and /flagz show: since when the server runs, its version and its paths; the flags of its command line.

import { KUBERNETES_VERSION } from '../../base/kubernetes-version.js'
import { type PathHandler, showComponentPage } from '../../http/pages.js'
import { type EffectiveVersion, printMinor } from '../../meta/effective-version.js'
import { type FeatureGates, isGateOn } from '../../meta/feature-gates.js'
import { printTime } from '../../meta/values/time.js'

export interface ComponentPageParts {
  readonly gates: FeatureGates
  readonly version: EffectiveVersion
  /** Of the command line, as text. */
  readonly flags: Readonly<Record<string, string>>
  readonly startedAt: number
  now(): number
}

/** The pages whose feature gates are on, by path. */
export function componentPages(parts: ComponentPageParts): [string, PathHandler][] {
  const { gates, flags } = parts
  const names = Object.keys(flags).toSorted()
  const flagz = showComponentPage({
    kind: 'Flagz',
    text: () => names.map(name => `${name}:${flags[name]}\n`).join(''),
    value: () => ({ flags: Object.fromEntries(names.map(name => [name, flags[name]!])) }),
  })
  return [
    ...(isGateOn(gates, 'ComponentFlagz') ? [['/flagz', flagz] as [string, PathHandler]] : []),
    ...(isGateOn(gates, 'ComponentStatusz') ? [['/statusz', statusz(parts)] as [string, PathHandler]] : []),
  ]
}

function statusz({ gates, version: { emulation }, startedAt, now }: ComponentPageParts): PathHandler {
  const paths = ['/healthz', '/livez', '/metrics', '/readyz', '/statusz', '/version']
  if (isGateOn(gates, 'ComponentFlagz')) paths.unshift('/flagz')
  const runtime = `node${process.versions.node}`
  const version = KUBERNETES_VERSION.replace(/^v/, '')
  const uptime = (): number => Math.floor((now() - startedAt) / 1000)
  return showComponentPage({
    kind: 'Statusz',
    text: () =>
      [
        '',
        `Started: ${unixDate(startedAt)}`,
        `Up: ${inHours(uptime())}`,
        `Go version: ${runtime}`,
        `Binary version: ${version}`,
        `Emulation version: ${printMinor(emulation)}`,
        `Paths: ${paths.join(' ')}`,
        '',
      ].join('\n'),
    value: () => ({
      startTime: printTime(startedAt),
      uptimeSeconds: uptime(),
      goVersion: runtime,
      binaryVersion: version,
      emulationVersion: printMinor(emulation),
      paths,
    }),
  })
}

const twoDigits = (number: number): string => String(number).padStart(2, '0')

const inHours = (seconds: number): string =>
  `${Math.floor(seconds / 3600)} hr ${twoDigits(Math.floor(seconds / 60) % 60)} min ${twoDigits(seconds % 60)} sec`

/** As the program `date` prints it: `Wed Nov 18 16:18:23 UTC 2026`. */
function unixDate(ms: number): string {
  const [day, date, month, year, time] = new Date(ms).toUTCString().replace(',', '').split(' ')
  return `${day} ${month} ${date!.replace(/^0/, ' ')} ${time} UTC ${year}`
}

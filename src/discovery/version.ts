// Which version of the API this is. Clients read the numbers to learn what they may count on.
import { arch, platform } from 'node:process'
import type { ValueObject } from '../meta/values/value.js'

const MAJOR = '1'
const MINOR = '36'

/** `/version`. What follows the plus sign does not count when versions are compared. */
export const serverVersion = (): ValueObject => ({
  major: MAJOR,
  minor: MINOR,
  emulationMajor: MAJOR,
  emulationMinor: MINOR,
  minCompatibilityMajor: MAJOR,
  minCompatibilityMinor: '35',
  gitVersion: `v${MAJOR}.${MINOR}.4+binnacle`,
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: `node${process.versions.node}`,
  compiler: 'v8',
  platform: `${platform}/${ARCHITECTURES[arch] ?? arch}`,
})

/** As Go calls them. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' }

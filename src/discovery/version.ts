// The version of the API. Clients compare it to find out which features are available.
import { arch, platform } from 'node:process'
import type { ValueObject } from '../meta/values/value.js'

const MAJOR = '1'
const MINOR = '36'

/** The version of the API in OpenAPI documents. */
export const API_VERSION = `${MAJOR}.${MINOR}`

/** `/version`. The part after the plus sign is ignored when versions are compared. */
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

/** Go's names. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' }

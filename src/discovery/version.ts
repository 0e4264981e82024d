// The version of the API. Clients compare it to find out which features are available.
import { arch, platform } from 'node:process'
import { KUBERNETES_VERSION, KUBERNETES_MAJOR as MAJOR, KUBERNETES_MINOR as MINOR } from '../base/kubernetes-version.js'
import type { ValueObject } from '../meta/values/value.js'

/** The version of the API in OpenAPI documents. */
export const API_VERSION = `${MAJOR}.${MINOR}`

/** The oldest version whose API is still served. */
export const MIN_COMPATIBLE = `${MAJOR}.35`

/** `/version`. */
export const serverVersion = (): ValueObject => ({
  major: MAJOR,
  minor: MINOR,
  emulationMajor: MAJOR,
  emulationMinor: MINOR,
  minCompatibilityMajor: MAJOR,
  minCompatibilityMinor: MIN_COMPATIBLE.slice(MAJOR.length + 1),
  gitVersion: KUBERNETES_VERSION,
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: `node${process.versions.node}`,
  compiler: 'v8',
  platform: `${platform}/${ARCHITECTURES[arch] ?? arch}`,
})

/** Go's names. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' }

// The version of the API. Clients compare it to find out which features are available.
import { arch, platform } from 'node:process'
import { KUBERNETES_VERSION, KUBERNETES_MAJOR as MAJOR, KUBERNETES_MINOR as MINOR } from '../base/kubernetes-version.js'
import { type EffectiveVersion, NOT_EMULATED } from '../meta/effective-version.js'
import type { ValueObject } from '../meta/values/value.js'

/** `/version`. */
export const serverVersion = ({ emulation, minCompatibility }: EffectiveVersion = NOT_EMULATED): ValueObject => ({
  major: MAJOR,
  minor: MINOR,
  emulationMajor: MAJOR,
  emulationMinor: String(emulation),
  minCompatibilityMajor: MAJOR,
  minCompatibilityMinor: String(minCompatibility),
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

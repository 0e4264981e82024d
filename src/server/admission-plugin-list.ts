// The admission plugins of kube-apiserver, for the help of the command line.
import { ADMISSION_PLUGINS } from '../admission/plugins.js'

export interface AdmissionPluginList {
  /** On by default, in the order in which they run. */
  readonly on: readonly string[]
  readonly off: readonly string[]
  /** Those that this server does not have, by the reason. */
  readonly missing: ReadonlyMap<string, readonly string[]>
}

export function listAdmissionPlugins(): AdmissionPluginList {
  const own = ADMISSION_PLUGINS.filter(({ create }) => create !== undefined)
  const missing = new Map<string, string[]>()
  for (const { name, missing: reason } of ADMISSION_PLUGINS) {
    if (reason !== undefined) missing.set(reason, [...(missing.get(reason) ?? []), name])
  }
  return {
    on: own.filter(({ isOnByDefault }) => isOnByDefault).map(({ name }) => name),
    off: own.filter(({ isOnByDefault }) => !isOnByDefault).map(({ name }) => name),
    missing,
  }
}

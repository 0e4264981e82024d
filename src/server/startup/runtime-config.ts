// Which API versions are served: all that are known, but for what `--runtime-config` says.
import type { Kind } from '../../kinds/kind.js'
import { apiVersionOf } from '../../kinds/kind-names.js'

/** By `apps/v1`, `v1`, or `api/all`, `api/ga`, `api/beta`, `api/alpha`; the nearest one counts. */
export type RuntimeConfig = Readonly<Record<string, boolean>>

export function withRuntimeConfig(kind: Kind, config: RuntimeConfig): Kind {
  const versions = kind.versions.map(version => {
    const served =
      config[apiVersionOf(kind, version.name)] ??
      config[`api/${stabilityOf(version.name)}`] ??
      config['api/all'] ??
      version.served
    return served === version.served ? version : { ...version, served }
  })
  return versions.every((version, i) => version === kind.versions[i]) ? kind : { ...kind, versions }
}

const stabilityOf = (version: string): string => /^v[0-9]+(alpha|beta)[0-9]+$/.exec(version)?.[1] ?? 'ga'

// Through which proxies connections are opened.
import type { Dials } from '../../base/dial.js'
import { parseEgressConfiguration } from '../egress/configuration.js'
import type { FlagTable, FlagValues } from './flag.js'
import { readFlagFile } from './flag-files.js'
import { optionalText } from './flag-values.js'

export const egressFlags = {
  'egress-selector-config-file': optionalText(
    '<file>',
    'an EgressSelectorConfiguration: the proxies through which webhooks, extension servers and etcd are reached',
  ),
} satisfies FlagTable

export function egressFromFlags({
  'egress-selector-config-file': path,
}: FlagValues<typeof egressFlags>): Dials | undefined {
  return path === undefined
    ? undefined
    : parseEgressConfiguration(Buffer.from(readFlagFile('egress-selector-config-file', path)))
}

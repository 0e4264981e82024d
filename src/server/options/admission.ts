// Which admission plugins are switched on and off. Their names are checked at the start (startup/admission-plugins.ts),
// because the table of plugins is loaded with the server.
import type { AdmissionFunction } from '../../admission/functions.js'
import type { FlagTable, FlagValues } from './flag.js'
import { list, optionalText } from './flag-values.js'

export interface AdmissionOptions {
  /** Plugins that are switched on although they are off by default, by kube-apiserver's names. */
  readonly enabled: readonly string[]
  /** Plugins that are switched off. */
  readonly disabled: readonly string[]
  /** A file with the configuration of plugins. */
  readonly configFile?: string | undefined
  /** Functions of the program that embeds the server. */
  readonly functions: readonly AdmissionFunction[]
}

export const admissionFlags = {
  'enable-admission-plugins': list('<names>', 'admission plugins to switch on'),
  'disable-admission-plugins': list('<names>', 'admission plugins to switch off, such as NamespaceLifecycle'),
  'admission-control-config-file': optionalText(
    '<file>',
    'an AdmissionConfiguration: the configuration of admission plugins',
  ),
} satisfies FlagTable

export const admissionFromFlags = (flags: FlagValues<typeof admissionFlags>): AdmissionOptions => ({
  enabled: flags['enable-admission-plugins'],
  disabled: flags['disable-admission-plugins'],
  configFile: flags['admission-control-config-file'],
  functions: [],
})

// Checks the names of the admission plugins that the options switch on and off, and reads their configuration.
import {
  DEFAULT_CONFIGURATIONS,
  type PluginConfigurations,
  readPluginConfigurations,
} from '../../admission/configuration.js'
import { ADMISSION_PLUGINS, findAdmissionPlugin, isAdmissionPluginOn } from '../../admission/plugins.js'
import { nearest } from '../../base/nearest.js'
import { UsageError } from '../../base/usage-error.js'
import type { AdmissionOptions } from '../options/admission.js'

/** Warnings about plugins that are switched on and not available. Throws a UsageError for an unknown name. */
export function checkAdmissionPlugins({ enabled, disabled }: Pick<AdmissionOptions, 'enabled' | 'disabled'>): string[] {
  for (const name of enabled) checkName(name, 'enable-admission-plugins')
  for (const name of disabled) checkName(name, 'disable-admission-plugins')
  const both = enabled.filter(name => disabled.includes(name))
  if (both.length > 0) {
    throw new UsageError(`[${both.join(' ')}] in enable-admission-plugins and disable-admission-plugins overlapped`)
  }
  return enabled.flatMap(name => {
    const missing = findAdmissionPlugin(name)?.missing
    return missing === undefined ? [] : `the admission plugin ${name} has no effect: ${missing}`
  })
}

/** The configuration of plugins, from its file. Throws a UsageError with kube-apiserver's message. */
export function readAdmissionConfiguration(options: AdmissionOptions): PluginConfigurations {
  const { configFile, enabled } = options
  if (configFile === undefined) return DEFAULT_CONFIGURATIONS
  return readPluginConfigurations(configFile, name => isAdmissionPluginOn(name, options), enabled)
}

function checkName(name: string, flag: string): void {
  if (findAdmissionPlugin(name)) return
  const near = nearest(
    name,
    ADMISSION_PLUGINS.map(entry => entry.name),
  )
  const hint = near === undefined ? '' : `; did you mean ${near}?`
  throw new UsageError(`${flag} plugin ${JSON.stringify(name)} is unknown${hint}`)
}

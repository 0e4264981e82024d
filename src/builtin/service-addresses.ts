// The addresses and ports of services, and the pools they come from.
export { canonicalAddress, familyOf, STRICT_IPS } from './common/ip-rules.js'
export * from './core/service/address-pool.js'
export * from './core/service/address-range.js'
export * from './core/service/service-addresses.js'
export * from './networking/service-cidr-ranges.js'

// The addresses and ports of services, and the pools they come from.
export * from './core/service/address-pool.js'
export * from './core/service/service-addresses.js'

// Addresses and ports of Services.
export * from './service-allocation/service-addresses.js'

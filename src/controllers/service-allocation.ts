// Addresses and ports of Services, and the ranges that the addresses are of.
export * from './service-allocation/default-service-cidr.js'
export { type RepairTimes, repairTimes } from './service-allocation/repair.js'
export * from './service-allocation/service-addresses.js'

-- SPDX-License-Identifier: MIT
-- luajit-map.lua -- writes /tmp/perf-PID.map, with the traces LuaJIT compiles.
--
--	LUA_INIT=@/usr/share/cpprof/luajit-map.lua luajit app.lua
--
-- A trace is named after the line where it starts, "parse.lua:12", or
-- "parse.lua:12 (side exit)" if it continues another trace.  Where there is no
-- JIT (plain Lua, which reads LUA_INIT too), nothing happens.
local has_jit, jit = pcall(require, "jit")
local has_util, util = pcall(require, "jit.util")
local has_ffi, ffi = pcall(require, "ffi")

if not (has_jit and has_util and has_ffi) then return end
ffi.cdef "int getpid(void);"

-- A map that is there belongs to an earlier process.
local path = ("/tmp/perf-%d.map"):format(ffi.C.getpid())

os.remove(path)

local map = io.open(path, "w")

if not map then return end
map:setvbuf("line")

local starts = {}	-- names by trace, until it is compiled or given up

jit.attach(function(what, trace, func, pc, parent)
	if what == "start" then
		local info = util.funcinfo(func, pc)

		starts[trace] = (info.loc or "?") ..
			(parent and " (side exit)" or "")
	elseif what == "stop" and starts[trace] then
		local code, address = util.tracemc(trace)

		if code then
			map:write(("%x %x %s\n"):format(address, #code,
				starts[trace]))
		end
	end
end, "trace")

# The playground: the core and the scene reader as WebAssembly, and the page beside it, in the folder web/ of the build.
find_path(TARN_TOML_INCLUDE toml++/toml.h PATHS /usr/include NO_CMAKE_FIND_ROOT_PATH REQUIRED)
# The folder that holds toml++ holds this machine's own headers, too.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/include)
file(CREATE_LINK ${TARN_TOML_INCLUDE}/toml++ ${CMAKE_BINARY_DIR}/include/toml++ SYMBOLIC)

add_executable(tarn_web app/web/main.cpp src/tarn/scene/read.cpp src/tarn/scene/toml_file.cpp src/tarn/shapes/load_nothing.cpp src/tarn/scene/contacts_nothing.cpp
  src/tarn/scene/control_nothing.cpp)
target_include_directories(tarn_web SYSTEM PRIVATE ${CMAKE_BINARY_DIR}/include)
target_link_libraries(tarn_web PRIVATE tarn_play tarn_core)
# Optimised for its size, the program as a whole is smaller by a twentieth, and slower by as little.
target_link_options(tarn_web PRIVATE -Os -sMODULARIZE=1 -sEXPORT_NAME=createTarn -sENVIRONMENT=worker,node
  -sALLOW_MEMORY_GROWTH=1 -sINITIAL_MEMORY=33554432 -sTOTAL_STACK=1048576 -sFILESYSTEM=0 -sNO_EXIT_RUNTIME=1
  -sEXPORTED_RUNTIME_METHODS=ccall,cwrap,UTF8ToString --no-entry)
set_target_properties(tarn_web PROPERTIES OUTPUT_NAME tarn RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/web)
# Packed it is a third as large; the page unpacks it.
add_custom_command(TARGET tarn_web POST_BUILD COMMAND gzip -9 -n -f ${CMAKE_BINARY_DIR}/web/tarn.wasm)
# Emscripten's own scripts look for their modules where Debian puts them, whichever Node.js runs them.
set_target_properties(tarn_web PROPERTIES RULE_LAUNCH_LINK "${CMAKE_COMMAND} -E env NODE_PATH=/usr/share/nodejs")
# What runs once, or once a stroke, had better be small than quick.
set(small_sources ${plain_sources} ${play_sources} app/web/main.cpp src/tarn/scene/read.cpp src/tarn/scene/toml_file.cpp
  src/tarn/scene/flows.cpp src/tarn/scene/given_flow.cpp src/tarn/scene/place_solids.cpp src/tarn/scene/wind.cpp
  src/tarn/effects/spray.cpp src/tarn/surface/particles.cpp src/tarn/step/volumes.cpp src/tarn/step/measure.cpp)
list(FILTER small_sources EXCLUDE REGEX "/ink.cpp|/edit.cpp")
set_source_files_properties(${small_sources} PROPERTIES COMPILE_OPTIONS -Os)

# The page, and the scenes that it starts from: its own, and those of scenes/ that are 2D water and air.
file(GLOB page CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/app/web/page app/web/page/*.* app/web/page/presets/*.toml)
set(shared_presets turbulent_mixing_2d pressed_cup_2d gravity_turned_2d rising_disc_2d buoyancy_2d solids_with_air_2d cip_against_linear_2d)
set(copied)
function(copy_into_web from to)
  add_custom_command(OUTPUT web/${to} COMMAND ${CMAKE_COMMAND} -E copy ${from} web/${to} DEPENDS ${from})
  set(copied ${copied} web/${to} PARENT_SCOPE)
endfunction()
foreach(file ${page})
  copy_into_web(${CMAKE_SOURCE_DIR}/app/web/page/${file} ${file})
endforeach()
foreach(scene ${shared_presets})
  copy_into_web(${CMAKE_SOURCE_DIR}/scenes/${scene}.toml presets/${scene}.toml)
endforeach()
add_custom_target(web ALL DEPENDS ${copied} tarn_web)

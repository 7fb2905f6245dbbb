# The Python package, in the folder python/ of the build:  PYTHONPATH=build/python python3 -c 'import tarn'
# Debian's Python, unless another is named with -DTARN_PYTHON_EXECUTABLE.
set(TARN_PYTHON_EXECUTABLE /usr/bin/python3 CACHE FILEPATH "The Python that the module is for")
set(Python3_EXECUTABLE ${TARN_PYTHON_EXECUTABLE})
find_package(Python3 REQUIRED COMPONENTS Interpreter Development.Module)
find_path(TARN_PYBIND11_INCLUDE pybind11/pybind11.h REQUIRED)

set(package_folder ${CMAKE_BINARY_DIR}/python/tarn)
add_library(tarn_python_module MODULE app/python/module.cpp app/python/scene.cpp)
set_target_properties(tarn_python_module PROPERTIES PREFIX "" OUTPUT_NAME _tarn SUFFIX .${Python3_SOABI}.so
  LIBRARY_OUTPUT_DIRECTORY ${package_folder})
set_target_properties(tarn_python_module PROPERTIES TARN_OPTIMIZE 1)
target_include_directories(tarn_python_module SYSTEM PRIVATE ${Python3_INCLUDE_DIRS} ${TARN_PYBIND11_INCLUDE})
target_compile_options(tarn_python_module PRIVATE -fvisibility=hidden)
target_link_libraries(tarn_python_module PRIVATE tarn tarn_core)

set(package_files __init__.py py.typed)
set(copied_package)
foreach(file ${package_files})
  add_custom_command(OUTPUT ${package_folder}/${file} COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/app/python/package/${file}
    ${package_folder}/${file} DEPENDS app/python/package/${file})
  list(APPEND copied_package ${package_folder}/${file})
endforeach()
# Type stubs: the classes as they are written down, and the attributes of a scene from the parameter table.
add_custom_command(OUTPUT ${package_folder}/__init__.pyi
  COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${CMAKE_BINARY_DIR}/python ${Python3_EXECUTABLE}
    ${CMAKE_SOURCE_DIR}/app/python/make_stubs.py ${package_folder}/__init__.pyi
  DEPENDS tarn_python_module ${copied_package} app/python/make_stubs.py app/python/package/__init__.pyi.in)
add_custom_target(tarn_python ALL DEPENDS tarn_python_module ${copied_package} ${package_folder}/__init__.pyi)
